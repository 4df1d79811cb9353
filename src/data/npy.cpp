#include "data/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/file_bytes.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t magic_bytes = 8;                // \x93NUMPY and the version
constexpr std::size_t most_header_bytes = 64 * 1024;  // of a header that is no structure
constexpr std::size_t most_dimensions = 32;

struct Header {
  std::string type;  // "<f4"
  bool column_major = false;
  std::vector<std::int64_t> shape;
};

// The dictionary of a header: a Python literal of a few fixed forms.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& name) : left_(text), name_(name) {}

  Header parse() {
    Header header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!next_is('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !has_type) {
        has_type = true;
        header.type = type();
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        header.column_major = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        header.shape = extents();
      } else {
        fail("key '" + key + "'");
      }
      if (!next_is('}')) expect(',');
    }
    expect('}');
    skip_blanks();
    if (!left_.empty()) fail("something behind its dictionary");
    if (!has_type || !has_order || !has_shape) fail("no descr, fortran_order or shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(name_ + ": the header of the NumPy array is damaged (" + what +
                    "); write the file again");
  }
  void skip_blanks() {
    left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size()));
  }
  bool next_is(char wanted) {
    skip_blanks();
    return left_.starts_with(wanted);
  }
  void expect(char wanted) {
    if (!next_is(wanted)) fail(std::string("'") + wanted + "' is missing");
    left_.remove_prefix(1);
  }
  std::string quoted() {
    const char mark = next_is('"') ? '"' : '\'';
    expect(mark);
    const std::size_t end = left_.find(mark);
    if (end == std::string_view::npos) fail("a name without end");
    std::string text(left_.substr(0, end));
    left_.remove_prefix(end + 1);
    return text;
  }
  std::string type() {
    if (next_is('[')) {
      throw DataError(name_ +
                      " is a structured array (of records with fields): save each field "
                      "as an array of its own");
    }
    return quoted();
  }
  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)}) {
      if (!left_.starts_with(word)) continue;
      left_.remove_prefix(std::string_view(word).size());
      return value;
    }
    fail("fortran_order is neither True nor False");
  }
  std::vector<std::int64_t> extents() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!next_is(')')) {
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), extent);
      if (error != std::errc() || extent < 0) fail("an extent of its shape");
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
      shape.push_back(extent);
      if (shape.size() > most_dimensions) fail("more than 32 dimensions");
      if (!next_is(')')) expect(',');
    }
    expect(')');
    return shape;
  }

  std::string_view left_;
  const std::string& name_;
};

[[noreturn]] void refuse_content(const std::string& name, ByteStream& stream,
                                 std::span<const std::uint8_t> head) {
  std::vector<std::uint8_t> start(512);
  std::copy(head.begin(), head.end(), start.begin());
  start.resize(head.size() + stream.read(std::span(start).subspan(head.size())));
  throw DataError(name + " is not a NumPy array (.npy): it is " + describe_content(start));
}

[[noreturn]] void refuse_truncated(const std::string& name, const std::string& where) {
  throw DataError(name + " is truncated: " + where + "; get the file again");
}

std::string read_header_text(ByteStream& stream, const std::string& name) {
  static constexpr std::array<std::uint8_t, 6> magic = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  std::array<std::uint8_t, magic_bytes> head{};
  const std::size_t got = stream.read(head);
  if (got == 0) throw DataError(name + " is empty (0 bytes); get the file again");
  const std::size_t common = std::min(got, magic.size());
  if (!std::equal(magic.begin(), magic.begin() + static_cast<std::ptrdiff_t>(common),
                  head.begin())) {
    refuse_content(name, stream, std::span(head).first(got));
  }
  if (got < head.size()) refuse_truncated(name, "it ends within its header");
  const int version = head[6];
  if (version < 1 || version > 3 || head[7] != 0) {
    throw DataError(name + " is a NumPy array of format version " + std::to_string(version) + "." +
                    std::to_string(head[7]) + "; 1.0, 2.0 and 3.0 are read");
  }
  std::array<std::uint8_t, 4> size_bytes{};
  const auto size_field = std::span(size_bytes).first(version == 1 ? 2 : 4);
  if (stream.read(size_field) < size_field.size()) {
    refuse_truncated(name, "it ends within its header");
  }
  const std::size_t size = std::size_t{size_bytes[0]} | std::size_t{size_bytes[1]} << 8 |
                           std::size_t{size_bytes[2]} << 16 | std::size_t{size_bytes[3]} << 24;
  if (size > most_header_bytes) {
    throw DataError(name + ": the header of the NumPy array is damaged (" + std::to_string(size) +
                    " bytes long); write the file again");
  }
  std::string text(size, '\0');
  const std::span target(reinterpret_cast<std::uint8_t*>(text.data()), size);
  if (stream.read(target) < size) refuse_truncated(name, "it ends within its header");
  return text;
}

std::string kind_name(char kind, const std::string& type) {
  switch (kind) {
    case 'O':
      return "Python objects: save numbers, for example np.asarray(x, dtype=np.float32)";
    case 'c':
      return "complex numbers (" + type + ")";
    case 'm':
    case 'M':
      return "dates or times (" + type + ")";
    case 'V':
      return "raw records (" + type + ")";
    case 'f':
      return "floats of another size (" + type + "): save float32 or float64";
    default:
      return "elements of type " + type +
             "; bool, int8 to int64, uint8 to uint64, float32, "
             "float64 and text are read";
  }
}

// Fills kind and item_bytes; true when the bytes of an element must be swapped.
bool take_type(const std::string& type, NpyArray& array) {
  const auto refuse = [&]() {
    throw DataError(array.name + " holds " + kind_name(type.size() > 1 ? type[1] : '?', type));
  };
  if (type.size() < 2 || std::string_view("<>|=").find(type[0]) == std::string_view::npos) refuse();
  array.kind = type[1];
  const auto [end, error] =
      std::from_chars(type.data() + 2, type.data() + type.size(), array.item_bytes);
  const bool whole = error == std::errc() && end == type.data() + type.size();
  const std::int64_t bytes = array.item_bytes;
  const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  bool known = false;
  if (array.kind == 'b') known = bytes == 1;
  if (array.kind == 'i' || array.kind == 'u') known = power;
  if (array.kind == 'f') known = bytes == 4 || bytes == 8;
  if (array.kind == 'S' || array.kind == 'U') known = bytes > 0 && bytes < 1 << 24;
  if (!whole || !known) refuse();
  if (array.kind == 'U') array.item_bytes *= 4;
  if (type[0] == '|' && array.kind != 'S' && bytes > 1) refuse();
  return type[0] == '>';
}

// Empty when the product does not fit 63 bits.
std::optional<std::uint64_t> volume(const NpyArray& array) {
  std::int64_t product = array.item_bytes;
  for (const std::int64_t extent : array.shape) {
    if (__builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return static_cast<std::uint64_t>(product);
}

// Up to `wanted` bytes; the buffer grows with what comes, for a compressed size may lie.
std::vector<std::uint8_t> read_values(ByteStream& stream, std::uint64_t wanted) {
  constexpr std::uint64_t believed = 64 << 20;
  std::vector<std::uint8_t> values;
  std::size_t filled = 0;
  while (filled < wanted) {
    const std::uint64_t step = std::max<std::uint64_t>(believed, filled);
    values.resize(filled + std::min<std::uint64_t>(wanted - filled, step));
    filled += stream.read(std::span(values).subspan(filled));
    if (filled < values.size()) break;
  }
  values.resize(filled);
  return values;
}

void swap_bytes(std::vector<std::uint8_t>& values, std::int64_t size) {
  const auto step = static_cast<std::ptrdiff_t>(size);
  for (auto item = values.begin(); item != values.end(); item += step) {
    std::reverse(item, item + step);
  }
}

// From column-major to row-major: the k-th element in row-major order has the index
// (i_0, …, i_d-1) and lies at sum_j i_j * (n_0 * … * n_j-1).
void make_row_major(NpyArray& array) {
  const std::size_t dimensions = array.shape.size();
  if (dimensions < 2) return;
  const auto bytes = static_cast<std::size_t>(array.item_bytes);
  std::vector<std::size_t> stride(dimensions, bytes), index(dimensions, 0);
  for (std::size_t j = 1; j < dimensions; ++j) {
    stride[j] = stride[j - 1] * static_cast<std::size_t>(array.shape[j - 1]);
  }
  std::vector<std::uint8_t> ordered(array.values.size());
  std::size_t from = 0;
  for (std::size_t to = 0; to < ordered.size(); to += bytes) {
    std::memcpy(&ordered[to], &array.values[from], bytes);
    for (std::size_t j = dimensions; j-- > 0;) {
      from += stride[j];
      if (++index[j] < static_cast<std::size_t>(array.shape[j])) break;
      from -= stride[j] * index[j];
      index[j] = 0;
    }
  }
  array.values = std::move(ordered);
}

void check_extents(const NpyArray& array) {
  if (std::count(array.shape.begin(), array.shape.end(), 0) > 0) {
    throw DataError(array.name + " is empty: its shape is " + array.shape_text());
  }
}

void take_values(NpyArray& array, ByteStream& stream) {
  const auto wanted = volume(array);
  const std::string declared =
      "its header declares " + array.shape_text() + " of " + array.type_name();
  if (!wanted || *wanted > stream.at_most()) {
    refuse_truncated(array.name, declared + ", but at most " + std::to_string(stream.at_most()) +
                                     " bytes can follow");
  }
  array.values = read_values(stream, *wanted);
  if (array.values.size() < *wanted) {
    refuse_truncated(array.name, declared + " (" + std::to_string(*wanted) + " bytes), but only " +
                                     std::to_string(array.values.size()) + " bytes follow");
  }
  std::uint8_t extra;
  if (stream.read({&extra, 1}) > 0) {
    throw DataError(array.name + " is too long: " + declared + " (" + std::to_string(*wanted) +
                    " bytes), but more follow; it is damaged or not what its name says");
  }
}

}  // namespace

std::int64_t NpyArray::items() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string NpyArray::type_name() const {
  if (kind == 'b') return "bool";
  if (kind == 'S' || kind == 'U') return "text";
  const char* family = kind == 'f' ? "float" : kind == 'i' ? "int" : "uint";
  return family + std::to_string(8 * item_bytes);
}

std::string NpyArray::shape_text() const {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

NpyArray read_npy(ByteStream& stream, const std::string& name) {
  const Header header = HeaderText(read_header_text(stream, name), name).parse();
  NpyArray array{.name = name, .shape = header.shape, .values = {}};
  const bool swapped = take_type(header.type, array);
  check_extents(array);
  take_values(array, stream);
  const std::int64_t unit = array.kind == 'U' ? 4 : array.kind == 'S' ? 1 : array.item_bytes;
  if (swapped && unit > 1) swap_bytes(array.values, unit);
  if (header.column_major) make_row_major(array);
  return array;
}

NpyArray npy_from_bytes(std::span<const std::uint8_t> bytes, const std::string& name) {
  return read_npy(*open_bytes(bytes, name), name);
}

}  // namespace fedvg
