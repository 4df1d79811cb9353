#include "data/idx.h"

#include <string>
#include <vector>

#include "data/testing.h"
#include "fedvg/random.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::counting;
using testing::gzip;
using testing::idx_file;
using testing::message_of;
using Shape = std::vector<std::int64_t>;

std::string refusal(const Bytes& bytes, IdxContent content = IdxContent::images) {
  return message_of<DataError>([&] { idx_from_bytes(bytes, "set", content); });
}

void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

Bytes start_of(const Bytes& bytes, std::size_t size) {
  return Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
}

TEST(Idx, ReadsImages) {
  const Bytes bytes = idx_file({2, 3, 4}, counting(24));
  for (const Bytes& file : {bytes, gzip(bytes)}) {
    const IdxArray array = idx_from_bytes(file, "set", IdxContent::images);
    EXPECT_EQ(array.shape, (Shape{2, 3, 4}));
    EXPECT_EQ(array.values, counting(24));
  }
}

TEST(Idx, ReadsLabels) {
  const IdxArray array = idx_from_bytes(idx_file({3}, {7, 0, 255}), "set", IdxContent::labels);
  EXPECT_EQ(array.shape, (Shape{3}));
  EXPECT_EQ(array.values, (Bytes{7, 0, 255}));
}

// 0x00010203 = 65536 + 512 + 3 labels: all four bytes of an extent count.
TEST(Idx, ReadsExtentsBigEndian) {
  const Bytes bytes = idx_file({66051}, counting(66051));
  EXPECT_EQ((Bytes{bytes[4], bytes[5], bytes[6], bytes[7]}), (Bytes{0, 1, 2, 3}));
  EXPECT_EQ(idx_from_bytes(bytes, "set", IdxContent::labels).shape, (Shape{66051}));
}

TEST(Idx, ReadsFromAFile) {
  const testing::TemporaryFolder folder;
  const auto path = folder.write("labels", gzip(idx_file({2}, {1, 0})));
  EXPECT_EQ(read_idx(path, IdxContent::labels).values, (Bytes{1, 0}));
  EXPECT_THROW(read_idx(folder.path() / "absent", IdxContent::labels), DataError);
}

TEST(Idx, RefusesATruncatedFileAtEveryLength) {
  const Bytes bytes = idx_file({2, 3, 4}, counting(24));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string message = refusal(start_of(bytes, size));
    EXPECT_TRUE(message.starts_with("set is ")) << size << ": " << message;
    expect_contains(message, size == 0 ? "empty" : "truncated");
  }
  const std::string message = refusal(start_of(bytes, bytes.size() - 1));
  expect_contains(message, "declares 2 x 3 x 4 bytes");
  expect_contains(message, "at most 23");
}

TEST(Idx, RefusesATruncatedGzipFileAtEveryLength) {
  const Bytes packed = gzip(idx_file({2, 30, 40}, counting(2400)));
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const Bytes start = start_of(packed, size);
    EXPECT_THROW(idx_from_bytes(start, "set", IdxContent::images), DataError) << size;
  }
}

TEST(Idx, SaysHowMuchOfATruncatedGzipFileCame) {
  const std::string message = refusal(gzip(idx_file({2, 3, 4}, counting(20))));
  expect_contains(message, "declares 2 x 3 x 4 bytes of images (24), but only 20 follow");
}

TEST(Idx, RefusesTrailingBytes) {
  const Bytes bytes = idx_file({2, 3, 4}, counting(25));
  expect_contains(refusal(bytes), "too long");
  expect_contains(refusal(gzip(bytes)), "too long");
}

TEST(Idx, RefusesLabelsWhereImagesAreWanted) {
  const Bytes labels = idx_file({2}, {0, 1});
  expect_contains(refusal(labels), "holds labels, but images are wanted here");
  const Bytes images = idx_file({1, 1, 2}, {0, 1});
  expect_contains(refusal(images, IdxContent::labels), "holds images, but labels are wanted here");
}

TEST(Idx, RefusesAnotherNumberOfDimensions) {
  expect_contains(refusal(idx_file({1, 2}, {0, 1})), "has 2 dimensions, but images have 3");
  expect_contains(refusal(idx_file({}, {0}), IdxContent::labels),
                  "has 0 dimensions, but labels have 1");
}

TEST(Idx, RefusesAnotherType) {
  expect_contains(refusal(idx_file({1, 1, 1}, counting(4), 0x0c)), "32-bit integers (type 0x0c)");
  expect_contains(refusal(idx_file({1, 1, 1}, counting(4), 0x0d)), "32-bit floats");
  expect_contains(refusal(idx_file({1, 1, 1}, counting(4), 0x42)), "unknown type 66");
}

TEST(Idx, SaysWhatItIsInstead) {
  expect_contains(refusal({'P', 'K', 3, 4, 0, 0}), "a zip archive");
  const std::string page = "<html><body>404</body></html>";
  expect_contains(refusal(Bytes(page.begin(), page.end())), "a web page");
  expect_contains(refusal(gzip(Bytes(page.begin(), page.end()))), "a web page");
  expect_contains(refusal(gzip(gzip(idx_file({1, 1, 1}, {0})))), "gzip data");
  expect_contains(refusal({1, 2, 3, 4, 5}), "unknown data starting with 01 02 03 04");
  expect_contains(refusal({'P', 'K'}), "text");
}

TEST(Idx, RefusesEmptySets) {
  expect_contains(refusal(idx_file({0, 28, 28}, {})), "declares 0 images");
  expect_contains(refusal(idx_file({0}, {}), IdxContent::labels), "declares 0 labels");
  expect_contains(refusal(idx_file({5, 0, 28}, {})), "images of 0 x 28 pixels");
}

// A header may declare up to 2^96 bytes: nothing is allocated on its word alone.
TEST(Idx, DisbelievesAHugeHeader) {
  constexpr std::uint32_t most = 0xffffffff;
  for (const auto& extents : {std::vector{most, most, most}, {most, most, 1u}, {most, 28u, 28u}}) {
    const Bytes bytes = idx_file(extents, counting(100));
    expect_contains(refusal(bytes), "truncated");
    expect_contains(refusal(gzip(bytes)), "truncated");
  }
  // 50 MB, which 60 kB of compressed data could hold but these do not.
  Random random(1, "test");
  Bytes noise(60'000);
  for (auto& byte : noise) byte = static_cast<std::uint8_t>(random.below(256));
  expect_contains(refusal(gzip(idx_file({50, 1000, 1000}, noise))), "but only 60000 follow");
}

TEST(Idx, RefusesADamagedGzipFile) {
  Bytes packed = gzip(idx_file({2, 3, 4}, counting(24)));
  packed[packed.size() - 7] ^= 0x10;  // of its check sum
  expect_contains(refusal(packed), "damaged gzip data");
}

// Any change of the file gives an array or a DataError.
TEST(Idx, SurvivesRandomDamage) {
  const Bytes plain = idx_file({2, 3, 4}, counting(24));
  const Bytes packed = gzip(plain);
  Random random(1, "test");
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = i % 2 ? plain : packed;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.below(256));
    }
    bytes.resize(bytes.size() - random.below(4) * random.below(8));
    try {
      const IdxArray array = idx_from_bytes(bytes, "set", IdxContent::images);
      std::int64_t product = 1;
      for (const std::int64_t extent : array.shape) product *= extent;
      ASSERT_EQ(product, std::ssize(array.values));
    } catch (const DataError&) {
    }
  }
}

TEST(Idx, PairsImagesAndLabels) {
  const Samples samples = samples_from_idx({{2, 1, 3}, counting(6)}, {{2}, {9, 4}}, "i", "l");
  EXPECT_EQ(samples.size(), 2);
  EXPECT_EQ(samples.channels, 1);
  EXPECT_EQ(samples.height, 1);
  EXPECT_EQ(samples.width, 3);
  EXPECT_EQ(samples.labels, (Shape{9, 4}));
  EXPECT_EQ(samples.image(1)[0], 3);
}

TEST(Idx, RefusesAnotherNumberOfLabels) {
  const auto message = message_of<DataError>([] {
    samples_from_idx({{2, 1, 3}, counting(6)}, {{3}, {9, 4, 1}}, "i", "l");
  });
  EXPECT_EQ(message, "i has 2 images, but l has 3 labels: the two belong to different sets");
}

}  // namespace
}  // namespace fedvg
