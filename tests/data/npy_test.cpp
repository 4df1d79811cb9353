#include "data/npy.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "data/arrays_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::counting;
using testing::gzip;
using testing::message_of;
using testing::npy_bytes;
using testing::npy_file;
using testing::npy_with_header;
using Shape = std::vector<std::int64_t>;

std::string refusal(const Bytes& bytes) {
  return message_of<DataError>([&] { npy_from_bytes(bytes, "set"); });
}

void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

std::vector<float> floats(const NpyArray& array) {
  const Bytes bytes = floats_of(array);
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

TEST(Npy, ReadsAnArrayOfEveryVersion) {
  for (const std::uint8_t version : {1, 2, 3}) {
    const auto array = npy_from_bytes(
        npy_with_header("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }", counting(6),
                        version),
        "set");
    EXPECT_EQ(array.shape, (Shape{2, 3}));
    EXPECT_EQ(array.values, counting(6));
    EXPECT_EQ(array.type_name(), "uint8");
    EXPECT_EQ(array.shape_text(), "[2, 3]");
  }
  const Bytes other =
      npy_with_header("{\"shape\":(6,),\"descr\":\"|u1\",\"fortran_order\":False}", counting(6), 4);
  expect_contains(refusal(other), "format version 4.0");
}

TEST(Npy, ReadsAHeaderInAnyOrderWithoutBlanks) {
  const auto array = npy_from_bytes(
      npy_with_header("{\"shape\":(6,),\"descr\":\"|u1\",\"fortran_order\":False}", counting(6)),
      "set");
  EXPECT_EQ(array.shape, (Shape{6}));
}

TEST(Npy, ReadsASingleNumber) {
  const auto array = npy_from_bytes(npy_file("<i8", "()", bytes_of<std::int64_t>({7})), "set");
  EXPECT_TRUE(array.shape.empty());
  EXPECT_EQ(integers_of(array), (std::vector<std::int64_t>{7}));
}

// [[0, 1, 2], [3, 4, 5]] column by column is 0 3 1 4 2 5.
TEST(Npy, PutsAColumnMajorTableInRowOrder) {
  const auto array = npy_from_bytes(npy_file("|u1", "(2, 3)", {0, 3, 1, 4, 2, 5}, true), "set");
  EXPECT_EQ(array.values, counting(6));
}

// Element (i, j, k) of shape (2, 3, 4) lies at i + 2 j + 6 k.
TEST(Npy, PutsAColumnMajorBlockInRowOrder) {
  std::vector<std::int16_t> stored(24), wanted;
  for (std::int16_t i = 0; i < 2; ++i) {
    for (std::int16_t j = 0; j < 3; ++j) {
      for (std::int16_t k = 0; k < 4; ++k) {
        const auto value = static_cast<std::int16_t>(100 * i + 10 * j + k);
        stored[static_cast<std::size_t>(i + 2 * j + 6 * k)] = value;
        wanted.push_back(value);
      }
    }
  }
  const auto array = npy_from_bytes(npy_file("<i2", "(2, 3, 4)", bytes_of(stored), true), "set");
  EXPECT_EQ(array.values, bytes_of(wanted));
}

TEST(Npy, ReadsIntegersOfEveryWidthAndByteOrder) {
  const std::vector<std::int64_t> wanted = {1, -2};
  const auto read = [](const std::string& type, const Bytes& bytes) {
    return integers_of(npy_from_bytes(npy_file(type, "(2,)", bytes), "set"));
  };
  EXPECT_EQ(read("|i1", {1, 0xfe}), wanted);
  EXPECT_EQ(read("<i2", {1, 0, 0xfe, 0xff}), wanted);
  EXPECT_EQ(read(">i2", {0, 1, 0xff, 0xfe}), wanted);
  EXPECT_EQ(read(">i4", {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe}), wanted);
  EXPECT_EQ(read("<i8", bytes_of(wanted)), wanted);
  EXPECT_EQ(read("|u1", {1, 0xfe}), (std::vector<std::int64_t>{1, 254}));
  EXPECT_EQ(read("|b1", {1, 0}), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(read(">u4", {0x80, 0, 0, 0, 0, 0, 1, 2}), (std::vector<std::int64_t>{2147483648, 258}));
}

TEST(Npy, RefusesAnIntegerThatDoesNotFit) {
  const auto array =
      npy_from_bytes(npy_file("<u8", "(2,)", bytes_of<std::uint64_t>({1, 1ULL << 63})), "set");
  expect_contains(message_of<DataError>([&] { integers_of(array); }), "at row 1 is too large");
}

TEST(Npy, ReadsNumbersAsFloats) {
  const std::vector<float> wanted = {0.5f, -2};
  const auto read = [](const std::string& type, const Bytes& bytes) {
    return floats(npy_from_bytes(npy_file(type, "(2,)", bytes), "set"));
  };
  EXPECT_EQ(read("<f4", bytes_of<float>({0.5f, -2})), wanted);
  EXPECT_EQ(read(">f4", {0x3f, 0, 0, 0, 0xc0, 0, 0, 0}), wanted);
  EXPECT_EQ(read("<f8", bytes_of<double>({0.5, -2})), wanted);
  EXPECT_EQ(read("|i1", {1, 0xfe}), (std::vector<float>{1, -2}));
}

TEST(Npy, NamesRowAndColumnOfANumberThatIsNotFinite) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto message = [](double value) {
    const auto array =
        npy_from_bytes(npy_file("<f8", "(2, 3)", bytes_of<double>({0, 1, 2, 3, 4, value})), "set");
    return message_of<DataError>([&] { floats_of(array); });
  };
  expect_contains(message(nan), "set: NaN at row 1, column 2 (counted from 0)");
  expect_contains(message(infinite), "an infinite number at row 1, column 2");
  expect_contains(message(1e300), "too large for float32 at row 1, column 2");
}

TEST(Npy, ReadsTexts) {
  const std::vector<std::uint32_t> codes = {'a', 'b', 0xfc, 0x20ac, 0x1f600, 0};  // ü, €, a face
  const auto wide = npy_from_bytes(npy_file("<U2", "(3,)", bytes_of(codes)), "set");
  EXPECT_EQ(texts_of(wide),
            (std::vector<std::string>{"ab", "\xc3\xbc\xe2\x82\xac", "\xf0\x9f\x98\x80"}));
  const auto swapped = npy_from_bytes(npy_file(">U1", "(1,)", {0, 0, 0x20, 0xac}), "set");
  EXPECT_EQ(texts_of(swapped), (std::vector<std::string>{"\xe2\x82\xac"}));
  const auto narrow = npy_from_bytes(npy_file("|S3", "(2,)", {'a', 'b', 'c', 'd', 0, 0}), "set");
  EXPECT_EQ(texts_of(narrow), (std::vector<std::string>{"abc", "d"}));
  const auto numbers = npy_from_bytes(npy_bytes("(2,)", {7, 12}), "set");
  EXPECT_EQ(texts_of(numbers), (std::vector<std::string>{"7", "12"}));
}

TEST(Npy, SaysWhichTypeIsWanted) {
  const auto array = npy_from_bytes(npy_file("<f4", "(1,)", bytes_of<float>({1})), "set");
  expect_contains(message_of<DataError>([&] { integers_of(array); }),
                  "set holds float32, but integers are wanted");
  expect_contains(message_of<DataError>([&] { texts_of(array); }), "holds float32");
  const auto text = npy_from_bytes(npy_file("|S1", "(1,)", {'a'}), "set");
  expect_contains(message_of<DataError>([&] { floats_of(text); }), "holds text");
}

TEST(Npy, RefusesTypesThatItCannotRead) {
  const auto message = [](const std::string& type) {
    return refusal(npy_file(type, "(1,)", counting(8)));
  };
  expect_contains(message("|O"), "Python objects");
  expect_contains(message("<c8"), "complex numbers");
  expect_contains(message("<f2"), "save float32 or float64");
  expect_contains(message("<M8[s]"), "dates or times");
  expect_contains(message("|V8"), "raw records");
  expect_contains(message("<i3"), "elements of type <i3");
  expect_contains(message("|i8"), "elements of type |i8");
  expect_contains(message("i8"), "elements of type i8");
  expect_contains(message("|S0"), "elements of type |S0");
  expect_contains(message(""), "elements of type ");
  expect_contains(
      refusal(npy_with_header("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }",
                              counting(8))),
      "structured array");
}

TEST(Npy, RefusesADamagedHeader) {
  for (const std::string header :
       {"", "{", "[]", "{'descr': '|u1', 'fortran_order': False}",
        "{'descr': '|u1', 'fortran_order': 0, 'shape': (6,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-6,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (6}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': 6}",
        "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (6,), 'more': 1}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (6,)} {}",
        "{'descr: |u1, 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '|u1' 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}"}) {
    expect_contains(refusal(npy_with_header(header, counting(6))), "header");
  }
  Bytes long_header = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0xff, 0xff, 0xff, 0xff, '{'};
  expect_contains(refusal(long_header), "4294967295 bytes long");
}

TEST(Npy, RefusesATruncatedFileAtEveryLength) {
  const Bytes bytes = npy_bytes("(2, 3)", counting(6));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes start(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    expect_contains(refusal(start), size == 0 ? "set is empty" : "set is truncated");
  }
  expect_contains(refusal(gzip(npy_bytes("(2, 3)", counting(5)))),
                  "declares [2, 3] of uint8 (6 bytes), but only 5 bytes follow");
}

TEST(Npy, RefusesTrailingBytes) {
  expect_contains(refusal(npy_bytes("(2, 3)", counting(7))), "too long");
}

TEST(Npy, RefusesAnEmptyArray) {
  expect_contains(refusal(npy_bytes("(0, 28, 28)", {})), "set is empty: its shape is [0, 28, 28]");
}

TEST(Npy, DisbelievesAHugeHeader) {
  for (const std::string shape : {"(4000000000, 28, 28)", "(4000000000, 4000000000, 4000000000)"}) {
    expect_contains(refusal(npy_bytes(shape, counting(6))), "at most 6 bytes can follow");
  }
}

TEST(Npy, SaysWhatItIsInstead) {
  expect_contains(refusal({'P', 'K', 3, 4, 0, 0, 0, 0, 0}), "it is a zip archive");
  expect_contains(refusal({'a', ',', 'b', '\n', '1'}), "it is text");
}

}  // namespace
}  // namespace fedvg
