#include "models/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "fedvg/error.h"

namespace fedvg {
namespace {

using ::testing::HasSubstr;

// Of this process alone: tests run beside each other.
std::filesystem::path own_folder() {
  std::string name = ::testing::TempDir() + "fedvg-safetensors-XXXXXX";
  if (!mkdtemp(name.data())) throw std::runtime_error(name + " cannot be made");
  return name;
}

template <class Number>
NamedArray array_of(const std::string& name, const std::string& dtype,
                    std::vector<std::int64_t> shape, const std::vector<Number>& numbers) {
  NamedArray array{name, dtype, std::move(shape), {}};
  array.bytes.resize(numbers.size() * sizeof(Number));
  if (!numbers.empty()) std::memcpy(array.bytes.data(), numbers.data(), array.bytes.size());
  return array;
}

std::string encoded(const std::vector<NamedArray>& tensors,
                    const std::map<std::string, std::string>& metadata = {}) {
  std::string bytes;
  encode_safetensors(tensors, metadata, [&](std::span<const std::byte> piece) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return bytes;
}

// `length` overrides what the first eight bytes say.
std::string file_of(const std::string& header, const std::string& data,
                    std::uint64_t length = UINT64_MAX) {
  if (length == UINT64_MAX) length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

class Safetensors : public ::testing::Test {
 protected:
  ~Safetensors() override { std::filesystem::remove_all(folder_); }
  std::string put(const std::string& bytes) {
    const auto path = folder_ / "model.safetensors";
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  std::string refusal_of(const std::string& bytes) {
    const std::string path = put(bytes);
    try {
      read_safetensors(path);
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
      return error.what();
    }
    return "accepted";
  }
  std::string refusal_of_header(const std::string& header, const std::string& data) {
    return refusal_of(file_of(header, data));
  }

  const std::filesystem::path folder_ = own_folder();
};

// The first bytes of torch.save's archive, of its pickles of old, and of a NumPy archive.
TEST_F(Safetensors, PointsToTheConversionOfPyTorchsFiles) {
  const auto zip = [](const std::string& name) {
    std::string entry("PK\x03\x04\x00\x00\x08\x08", 8);
    entry.resize(26, '\0');
    entry += static_cast<char>(name.size());
    entry.resize(30, '\0');
    return entry + name + "FB";
  };
  const std::string advice = "not a safetensors file but PyTorch's: python/convert_pth.py makes";
  EXPECT_THAT(refusal_of(zip("archive/data.pkl")), HasSubstr(advice));
  EXPECT_THAT(refusal_of(std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 14)),
              HasSubstr(advice));
  const std::string other = refusal_of(zip("x.npy"));
  EXPECT_THAT(other, HasSubstr("not a safetensors file: its header would have"));
  EXPECT_THAT(other, ::testing::Not(HasSubstr("PyTorch")));
}

// {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} has 54 characters: two spaces
// make it 56, and 1.0f is 00 00 80 3f, -2.0f is 00 00 00 c0.
TEST_F(Safetensors, WritesTheBytesOfTheFormat) {
  const std::string expected =
      file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  )",
              std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8));
  EXPECT_EQ(encoded({array_of<float>("a", "F32", {2}, {1.0F, -2.0F})}), expected);
}

TEST_F(Safetensors, WideNumbersComeFirstSoThatAllAreAligned) {
  const auto path = put(encoded({array_of<std::uint8_t>("flag", "BOOL", {1}, {1}),
                                 array_of<float>("weight", "F32", {3}, {1, 2, 3}),
                                 array_of<std::int64_t>("counter", "I64", {}, {7}),
                                 array_of<float>("bias", "F32", {1}, {4})}));
  std::vector<std::string> names;
  for (const auto& tensor : read_safetensors(path).tensors) names.push_back(tensor.name);
  EXPECT_THAT(names, ::testing::ElementsAre("counter", "weight", "bias", "flag"));
}

// U13: shapes [], [0], [1], [1,0,3] come back with type and bytes.
TEST_F(Safetensors, EveryDtypeAndShapeComesBack) {
  std::vector<NamedArray> tensors = {array_of<double>("f64", "F64", {1}, {0.1}),
                                     array_of<std::int64_t>("i64", "I64", {}, {INT64_MIN}),
                                     array_of<float>("f32", "F32", {2, 2}, {1, 2, 3, 4}),
                                     array_of<std::int32_t>("i32", "I32", {1}, {-5}),
                                     array_of<float>("none", "F32", {0}, {}),
                                     array_of<float>("no.row", "F32", {1, 0, 3}, {}),
                                     array_of<std::uint16_t>("f16", "F16", {2}, {0x3c00, 0x7bff}),
                                     array_of<std::uint16_t>("bf16", "BF16", {1}, {0x3f80}),
                                     array_of<std::uint8_t>("u8", "U8", {3}, {0, 127, 255}),
                                     array_of<std::uint8_t>("bool", "BOOL", {2}, {0, 1})};
  const TensorFile file = read_safetensors(put(encoded(tensors, {{"round", "3"}})));
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"round", "3"}}));
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const NamedArray& tensor : tensors) {
    EXPECT_THAT(file.tensors, ::testing::Contains(tensor)) << tensor.name;
  }
}

TEST_F(Safetensors, AModelWithoutTensorsIsAFile) {
  EXPECT_TRUE(read_safetensors(put(encoded({}))).tensors.empty());
}

TEST_F(Safetensors, RefusesToWriteWhatItCouldNotRead) {
  EXPECT_THROW(encoded({array_of<float>("a", "F32", {3}, {1})}), std::logic_error);
  EXPECT_THROW(encoded({array_of<float>("a", "F8", {4}, {1})}), std::logic_error);
  EXPECT_THROW(
      encoded({array_of<float>("a", "F32", {1}, {1}), array_of<float>("a", "F32", {1}, {2})}),
      std::logic_error);
  EXPECT_THROW(encoded({array_of<float>("__metadata__", "F32", {1}, {1})}), std::logic_error);
  EXPECT_THROW(encoded({array_of<float>("\xfc", "F32", {1}, {1})}), std::logic_error);
  EXPECT_THROW(encoded({}, {{"user", "\xfc"}}), std::logic_error);
  EXPECT_THROW(encoded({array_of<float>("a", "F32", {INT64_MAX, 0, INT64_MAX}, {})}),
               std::logic_error);
}

TEST_F(Safetensors, NamesMayBeAnyText) {
  std::vector<NamedArray> tensors;
  for (const char* name : {"", "a.b.c", "näme/層", "tab\tand \"quotes\" \\", "dtype", " "}) {
    tensors.push_back(array_of<std::uint8_t>(name, "U8", {1}, {7}));
  }
  const std::map<std::string, std::string> metadata = {{"", ""}, {"größe", "ein\nText"}};
  const TensorFile file = read_safetensors(put(encoded(tensors, metadata)));
  EXPECT_THAT(file.tensors, ::testing::UnorderedElementsAreArray(tensors));
  EXPECT_EQ(file.metadata, metadata);
}

TEST_F(Safetensors, RefusesAHeaderAboveOneHundredMegabytes) {
  EXPECT_THAT(refusal_of(file_of("{}", "", 100'000'001)), HasSubstr("more than 100 MB"));
  EXPECT_THAT(refusal_of(file_of("{}", "", 100'000'000)), HasSubstr("only 2 follow"));
}

// A value of a hundred thousand levels would take all stack where it is copied or shown.
TEST_F(Safetensors, RefusesDepth) {
  const std::string deep(100'000, '['), back(100'000, ']');
  for (const std::string& value : {deep + back, deep, R"({"dtype":)" + deep + back + "}"}) {
    EXPECT_THAT(refusal_of_header("{\"a.b\":" + value + "}", ""),
                HasSubstr("its header is nested too deep in 'a.b'"));
  }
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += R"({"x":)";
  EXPECT_THAT(refusal_of_header(objects, ""), HasSubstr("nested too deep in 'x'"));
  EXPECT_THAT(refusal_of_header(R"({"__metadata__":{"a":[[1]]}})", ""),
              HasSubstr("nested too deep in '__metadata__'"));
}

TEST_F(Safetensors, ShowsNamesOnOneLineAndShortened) {
  const std::string refusal =
      refusal_of_header(R"({"a\n)" + std::string(1000, 'x') + R"(":[]})", "");
  EXPECT_THAT(refusal, HasSubstr(R"(tensor 'a\nxxx)"));
  EXPECT_THAT(refusal, HasSubstr("…' needs dtype"));
  EXPECT_LT(refusal.size(), 400U);
}

TEST_F(Safetensors, RefusesHeadersThatAreNotJson) {
  EXPECT_THAT(refusal_of_header("{\"a\":}", ""), HasSubstr("not JSON, at byte 6 of it"));
  EXPECT_THAT(refusal_of_header("{\"a\":1e999}", ""), HasSubstr("a number that is too large"));
  EXPECT_THAT(refusal_of_header("{\"\xff\":1}", ""), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of_header("{}[", ""), HasSubstr("not JSON"));
  EXPECT_EQ(refusal_of_header("{}   ", ""), "accepted");
}

TEST_F(Safetensors, RefusesWhatIsNoPlainFileWithoutWaiting) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    try {
      read_safetensors(path);
      FAIL() << path;
    } catch (const DataError& error) {
      EXPECT_EQ(error.what(), path + ": not a safetensors file: it is not a plain file");
    }
  }
}

TEST_F(Safetensors, RefusesAHeaderWhoseLengthLies) {
  EXPECT_THAT(refusal_of(""), HasSubstr("0 bytes, fewer than 8"));
  EXPECT_THAT(refusal_of(file_of("{}", "", 50)), HasSubstr("only 2 follow"));
  EXPECT_THAT(refusal_of(file_of("{}", "", std::uint64_t{1} << 63)), HasSubstr("more than 100 MB"));
  EXPECT_THAT(refusal_of(file_of("{}", "", 0)), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal_of(file_of("{}", "", 1)), HasSubstr("not JSON"));
}

TEST_F(Safetensors, RefusesWhatIsNotSafetensors) {
  EXPECT_THAT(refusal_of("seed = 1\n[data]\nname = \"idx\"\n"),
              HasSubstr("not a safetensors file"));
  EXPECT_THAT(refusal_of(std::string("\x80\x02}q\x00X\x03\x00\x00\x00wq\x01", 13)),
              HasSubstr("not a safetensors file"));  // a Python pickle
  EXPECT_THAT(refusal_of(std::string("PK\x03\x04", 4) + std::string(60, '\0')),
              HasSubstr("not a safetensors file"));  // a TorchScript archive
  EXPECT_THROW(read_safetensors((folder_ / "absent").string()), DataError);
  EXPECT_THROW(read_safetensors(folder_.string()), DataError);
}

TEST_F(Safetensors, RefusesTensorsThatOverlapOrLeaveGaps) {
  const std::string first = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)";
  EXPECT_THAT(
      refusal_of_header(first + R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", "xyz"),
      HasSubstr("'b' begins at byte 1 where 2 was due: tensors overlap"));
  EXPECT_THAT(
      refusal_of_header(first + R"("b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})", "wxyz"),
      HasSubstr("leave a gap"));
}

TEST_F(Safetensors, RefusesTruncatedAndTrailingBytes) {
  const std::string header = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  EXPECT_THAT(refusal_of_header(header, "x"), HasSubstr("truncated"));
  EXPECT_THAT(refusal_of_header(header, "xyz"), HasSubstr("take 2 bytes, but 3 follow"));
  EXPECT_EQ(refusal_of_header(header, "xy"), "accepted");
}

TEST_F(Safetensors, RefusesEntriesThatMakeNoSense) {
  const auto refusal = [&](const std::string& entry) {
    return refusal_of_header("{\"a\":" + entry + "}", "xx");
  };
  EXPECT_THAT(refusal(R"({"dtype":"F8","shape":[2],"data_offsets":[0,2]})"),
              HasSubstr("dtype \"F8\"; known: F64"));
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[-2],"data_offsets":[0,2]})"), HasSubstr("-2"));
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[3],"data_offsets":[0,2]})"),
              HasSubstr("does not fill"));
  EXPECT_THAT(refusal(R"({"dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,2]})"),
              HasSubstr("does not fill"));  // 2^62 * 8 overflows
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]})"),
              HasSubstr("does not fill"));  // 2^64 is 0 in 64 bits
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[9223372036854775807,0,2],"data_offsets":[0,0]})"),
              HasSubstr("does not fill"));  // its strides overflow
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,2]})"),
              HasSubstr("no size that a file can have"));
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[2],"data_offsets":[0,9223372036854775807]})"),
              HasSubstr("does not fill"));
  EXPECT_THAT(refusal(R"({"dtype":"U8","dtype":"U8","shape":[2],"data_offsets":[0,2]})"),
              HasSubstr("names 'dtype' twice in 'a'"));
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[2],"data_offsets":[0,2],"x":1})"),
              HasSubstr("tensor 'a' needs dtype, shape and data_offsets, and nothing else"));
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[2],"data_offsets":[2,0]})"),
              HasSubstr("not [begin, end]"));
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[2.0],"data_offsets":[0,2]})"), HasSubstr("2.0"));
  EXPECT_THAT(refusal(R"({"dtype":"U8","shape":[2]})"), HasSubstr("needs dtype"));
  EXPECT_THAT(refusal("[]"), HasSubstr("needs dtype"));
  EXPECT_THAT(refusal_of_header(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},
                                    "a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                                "xx"),
              HasSubstr("names 'a' twice"));
  EXPECT_THAT(refusal_of_header(R"({"__metadata__":{"round":3}})", ""), HasSubstr("__metadata__"));
}

// The other side is tests/models/safetensors_test.py: it names a folder, has these tests
// write `ours` there and read `theirs` and `damaged`, which Python wrote. Alone, ours stands
// for both.
const std::vector<NamedArray> exchanged = {
    array_of<double>("f64", "F64", {2}, {0.1, -1e300}),
    array_of<std::int64_t>("counter", "I64", {}, {21}),
    array_of<std::int64_t>("i64", "I64", {2}, {INT64_MIN, INT64_MAX}),
    array_of<float>("weight", "F32", {2, 3}, {0, 1, 2, 3, 4, 5}),
    array_of<float>("empty", "F32", {1, 0, 3}, {}),
    array_of<float>("nothing", "F32", {0}, {}),
    array_of<float>("", "F32", {}, {-0.5F}),
    array_of<std::int32_t>("i32", "I32", {1, 1}, {INT32_MIN}),
    array_of<std::uint16_t>("f16", "F16", {2}, {0x3c00, 0x7bff}),    // 1, 65504
    array_of<std::uint16_t>("bf16", "BF16", {2}, {0x3f80, 0xc049}),  // 1, -3.140625
    array_of<std::uint8_t>("u8", "U8", {3}, {0, 127, 255}),
    array_of<std::uint8_t>("mask", "BOOL", {2}, {1, 0}),
    array_of<std::uint8_t>("block.0.näme/層 \"q\" \\ \n", "U8", {1}, {9})};
const std::map<std::string, std::string> exchanged_metadata = {
    {"format", "pt"}, {"größe", "zwei \"Zeilen\"\n"}, {"", ""}};

TEST(SafetensorsExchange, AgreesWithPython) {
  const char* named = std::getenv("FEDVG_EXCHANGE_FOLDER");
  const std::filesystem::path folder = named ? named : own_folder();
  const std::string bytes = encoded(exchanged, exchanged_metadata);
  std::ofstream(folder / "ours.safetensors", std::ios::binary) << bytes;
  if (!named) std::ofstream(folder / "theirs.safetensors", std::ios::binary) << bytes;

  const TensorFile theirs = read_safetensors((folder / "theirs.safetensors").string());
  EXPECT_EQ(theirs.metadata, exchanged_metadata);
  EXPECT_THAT(theirs.tensors, ::testing::UnorderedElementsAreArray(exchanged));
  if (!named) std::filesystem::remove_all(folder);
}

// damaged/TENSOR@FAULT: the refusal names the file, and the tensor where the fault is one's.
TEST(SafetensorsExchange, RefusesWhatPythonRefuses) {
  const char* named = std::getenv("FEDVG_EXCHANGE_FOLDER");
  if (!named) GTEST_SKIP() << "tests/models/safetensors_test.py brings the files";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(named) + "/damaged")) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    const std::string tensor = name.substr(0, name.find('@'));
    ++files;
    try {
      read_safetensors(path);
      ADD_FAILURE() << path << " is read";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith(path + ": not a safetensors file"));
      if (tensor.empty()) continue;
      EXPECT_THAT(error.what(), HasSubstr("'" + tensor + "'"));
    }
  }
  EXPECT_GT(files, 20U);
}

}  // namespace
}  // namespace fedvg
