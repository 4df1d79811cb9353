// Elements of NumPy arrays as the types that samples, labels and owners have.

#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "data/npy.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

template <class T>
T item(const NpyArray& array, std::size_t index) {
  T value;
  std::memcpy(&value, &array.values[index * sizeof(T)], sizeof(T));
  return value;
}

// Calls use(index, value) for all elements, integers of the array's own type.
template <class Use>
void for_each_integer(const NpyArray& array, Use&& use) {
  const auto all = [&]<class T>(T) {
    const auto count = static_cast<std::size_t>(array.items());
    for (std::size_t i = 0; i < count; ++i) use(i, item<T>(array, i));
  };
  const std::int64_t bytes = array.item_bytes;
  if (array.kind == 'i') {
    if (bytes == 1) return all(std::int8_t{});
    if (bytes == 2) return all(std::int16_t{});
    return bytes == 4 ? all(std::int32_t{}) : all(std::int64_t{});
  }
  if (bytes == 1) return all(std::uint8_t{});
  if (bytes == 2) return all(std::uint16_t{});
  return bytes == 4 ? all(std::uint32_t{}) : all(std::uint64_t{});
}

// The same of numbers: as floats and doubles where it holds these, else as integers.
template <class Use>
void for_each_number(const NpyArray& array, Use&& use) {
  if (array.kind != 'f') return for_each_integer(array, use);
  const auto count = static_cast<std::size_t>(array.items());
  for (std::size_t i = 0; i < count; ++i) {
    if (array.item_bytes == 4) {
      use(i, item<float>(array, i));
    } else {
      use(i, item<double>(array, i));
    }
  }
}

// "row 3, column 7", counted from 0, of an element of a table; "row 3" of a list.
std::string place(const NpyArray& array, std::size_t index) {
  const auto rows = static_cast<std::size_t>(array.shape.empty() ? 1 : array.shape[0]);
  const std::size_t columns = static_cast<std::size_t>(array.items()) / rows;
  std::string text = "row " + std::to_string(index / columns);
  if (columns > 1) text += ", column " + std::to_string(index % columns);
  return text;
}

void append_utf8(std::string& text, std::uint32_t code, const NpyArray& array) {
  if (code > 0x10ffff) throw DataError(array.name + " holds damaged text; write the file again");
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

std::string text_at(const NpyArray& array, std::size_t index) {
  std::string text;
  const auto bytes = static_cast<std::size_t>(array.item_bytes);
  if (array.kind == 'S') {
    text.assign(reinterpret_cast<const char*>(array.values.data()) + index * bytes, bytes);
  } else {
    const std::size_t characters = bytes / 4;
    for (std::size_t i = 0; i < characters; ++i) {
      append_utf8(text, item<std::uint32_t>(array, index * characters + i), array);
    }
  }
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

}  // namespace

std::vector<std::int64_t> integers_of(const NpyArray& array) {
  if (array.kind != 'i' && array.kind != 'u' && array.kind != 'b') {
    throw DataError(array.name + " holds " + array.type_name() +
                    ", but integers are wanted: " + "save it as y.astype(np.int64)");
  }
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(array.items()));
  for_each_integer(array, [&](std::size_t i, auto value) {
    if (!std::in_range<std::int64_t>(value)) {
      throw DataError(array.name + ": the integer at " + place(array, i) + " is too large");
    }
    numbers[i] = static_cast<std::int64_t>(value);
  });
  return numbers;
}

std::vector<std::uint8_t> floats_of(const NpyArray& array) {
  if (array.kind == 'S' || array.kind == 'U') {
    throw DataError(array.name + " holds text, but numbers are wanted");
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(array.items()) * sizeof(float));
  for_each_number(array, [&](std::size_t i, auto value) {
    const auto number = static_cast<float>(value);
    if (!std::isfinite(number)) {
      const auto given = static_cast<double>(value);
      throw DataError(array.name + ": " +
                      (std::isnan(given)   ? "NaN"
                       : std::isinf(given) ? "an infinite number"
                                           : "a number too large for float32") +
                      " at " + place(array, i) +
                      " (counted from 0): features must be finite; fill or remove the row");
    }
    std::memcpy(&bytes[i * sizeof(float)], &number, sizeof(float));
  });
  return bytes;
}

std::vector<std::string> texts_of(const NpyArray& array) {
  std::vector<std::string> texts;
  if (array.kind == 'S' || array.kind == 'U') {
    const auto count = static_cast<std::size_t>(array.items());
    for (std::size_t i = 0; i < count; ++i) texts.push_back(text_at(array, i));
    return texts;
  }
  if (array.kind == 'f') {
    throw DataError(array.name + " holds " + array.type_name() +
                    ", but integers or text are wanted");
  }
  for (const std::int64_t number : integers_of(array)) texts.push_back(std::to_string(number));
  return texts;
}

}  // namespace fedvg
