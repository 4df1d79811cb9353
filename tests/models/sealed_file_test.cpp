#include "models/sealed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "fedvg/error.h"

namespace fedvg {
namespace {

using ::testing::HasSubstr;
using Metadata = std::map<std::string, std::string>;

NamedArray array_of(const std::string& name, const std::string& dtype,
                    std::vector<std::int64_t> shape, const std::string& bytes) {
  NamedArray array{name, dtype, std::move(shape), {}};
  array.bytes.resize(bytes.size());
  if (!bytes.empty()) std::memcpy(array.bytes.data(), bytes.data(), bytes.size());
  return array;
}

std::string encoded(const std::vector<NamedArray>& tensors, const Metadata& metadata) {
  std::string bytes;
  encode_safetensors(tensors, metadata, [&](std::span<const std::byte> piece) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return bytes;
}

class SealedFile : public ::testing::Test {
 protected:
  SealedFile() {
    std::string name = ::testing::TempDir() + "fedvg-sealed-XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error(name + " cannot be made");
    folder_ = name;
    path_ = (folder_ / "state.safetensors").string();
  }
  ~SealedFile() override { std::filesystem::remove_all(folder_); }

  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  TensorFile read(const std::string& bytes) const {
    put(bytes);
    return read_sealed(path_);
  }
  /// Why the file is refused, "accepted" where it is not.
  std::string refusal_of(const std::string& bytes) const {
    try {
      read(bytes);
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path_));
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path folder_;
  std::string path_;
  const std::vector<NamedArray> few_ = {array_of("w", "F32", {1, 2}, "abcdefgh"),
                                        array_of("mask", "BOOL", {2}, std::string("\1\0", 2)),
                                        array_of("none", "U8", {0}, "")};
};

TEST_F(SealedFile, BringsBackEveryTypeAndTheMetadata) {
  const std::string eight = "12345678";
  const std::vector<NamedArray> tensors = {
      array_of("f64", "F64", {1}, eight),      array_of("i64", "I64", {}, eight),
      array_of("f32", "F32", {2, 1}, eight),   array_of("i32", "I32", {2}, eight),
      array_of("f16", "F16", {4}, eight),      array_of("bf16", "BF16", {2, 2}, eight),
      array_of("u8", "U8", {8}, eight),        array_of("bool", "BOOL", {1}, "\1"),
      array_of("empty", "F32", {3, 0, 2}, ""), array_of("", "F32", {}, "1234"),
      array_of("größe \"\n", "U8", {1}, "9")};
  const Metadata metadata = {{"round", "3"}, {"", ""}, {"progress", "{\"a\": \"\\n\"}"}};
  const TensorFile file = read(encoded(tensors, sealed(tensors, metadata)));
  EXPECT_THAT(file.tensors, ::testing::UnorderedElementsAreArray(tensors));
  EXPECT_EQ(file.metadata, metadata);
}

TEST_F(SealedFile, MayBeEmpty) {
  const TensorFile file = read(encoded({}, sealed({}, {})));
  EXPECT_TRUE(file.tensors.empty());
  EXPECT_TRUE(file.metadata.empty());
}

TEST_F(SealedFile, ANumberThatChangedIsSeen) {
  const std::string bytes = encoded(few_, sealed(few_, {{"round", "3"}}));
  std::string changed = bytes;
  changed[changed.find("abcdefgh") + 3] ^= 1;
  EXPECT_EQ(refusal_of(changed), path_ + ": damaged: its content is not what was written");
  EXPECT_EQ(refusal_of(bytes), "accepted");
}

// Whatever byte of the file becomes another: it is refused, or has the same content.
TEST_F(SealedFile, NoFlippedByteChangesTheContent) {
  const Metadata metadata = {{"round", "3"}, {"best", "17"}};
  const std::string bytes = encoded(few_, sealed(few_, metadata));
  const TensorFile whole = read(bytes);
  std::size_t refused = 0, tried = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int mask : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ mask);
      put(flipped);
      ++tried;
      try {
        const TensorFile file = read_sealed(path_);
        EXPECT_EQ(file.tensors, whole.tensors) << at << " ^ " << mask;
        EXPECT_EQ(file.metadata, whole.metadata) << at << " ^ " << mask;
      } catch (const DataError& error) {
        EXPECT_THAT(error.what(), HasSubstr(path_));
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, tried * 9 / 10);
}

TEST_F(SealedFile, IsRefusedWhereverItEndsTooSoon) {
  const std::string bytes = encoded(few_, sealed(few_, {{"round", "3"}}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refusal_of(bytes.substr(0, size)), "accepted") << size;
  }
  EXPECT_NE(refusal_of(bytes + '\0'), "accepted");
}

TEST_F(SealedFile, OneThatWasNeverSealedIsNoneOfOurs) {
  EXPECT_EQ(refusal_of(encoded(few_, {{"round", "3"}})),
            path_ + ": not a file that a run wrote: it has no seal");
  EXPECT_NE(refusal_of(encoded(few_, {{"seal", ""}})), "accepted");
  EXPECT_THROW(read_sealed((folder_ / "absent").string()), DataError);
}

TEST_F(SealedFile, TheOrderOfTheTensorsDoesNotMatter) {
  std::vector<NamedArray> turned = few_;
  std::ranges::reverse(turned);
  const Metadata seal = sealed(few_, {{"round", "3"}});
  EXPECT_EQ(sealed(turned, {{"round", "3"}}), seal);
  EXPECT_THAT(read(encoded(turned, seal)).tensors, ::testing::UnorderedElementsAreArray(few_));
}

TEST_F(SealedFile, TheMetadataAreSealedToo) {
  const Metadata seal = sealed(few_, {{"round", "3"}, {"best", "1"}});
  const auto refusal_with = [&](const auto& change) {
    Metadata changed = seal;
    change(changed);
    return refusal_of(encoded(few_, changed));
  };
  EXPECT_EQ(refusal_with([](Metadata&) {}), "accepted");
  EXPECT_THAT(refusal_with([](Metadata& m) { m["round"] = "4"; }), HasSubstr("damaged"));
  EXPECT_THAT(refusal_with([](Metadata& m) { m.erase("best"); }), HasSubstr("damaged"));
  EXPECT_THAT(refusal_with([](Metadata& m) { m["more"] = ""; }), HasSubstr("damaged"));
  EXPECT_THAT(refusal_with([](Metadata& m) { std::swap(m["round"], m["best"]); }),
              HasSubstr("damaged"));
}

// Names, types and shapes count, not bytes alone.
TEST_F(SealedFile, TheSealIsOfAllOfATensor) {
  const NamedArray tensor = array_of("w", "F32", {1, 2}, "abcdefgh");
  std::vector<NamedArray> others(4, tensor);
  others[0].name = "v";
  others[1].dtype = "I32";
  others[2].shape = {2, 1};
  others[3].bytes[7] ^= std::byte{128};
  const Metadata seal = sealed({tensor}, {});
  for (const NamedArray& other : others) EXPECT_NE(sealed({other}, {}), seal);
  EXPECT_NE(sealed({tensor, others[0]}, {}), seal);
}

// Metadata that were read from a sealed file by a plain reader hold the seal.
TEST_F(SealedFile, CanBeSealedAnew) {
  const Metadata seal = sealed(few_, {{"round", "3"}});
  EXPECT_EQ(sealed(few_, seal), seal);
  Metadata next = seal;
  next["round"] = "4";
  EXPECT_EQ(read(encoded(few_, sealed(few_, next))).metadata, (Metadata{{"round", "4"}}));
}

}  // namespace
}  // namespace fedvg
