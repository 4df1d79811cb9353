#include "data/byte_stream.h"

#include <numeric>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::counting;
using testing::gzip;
using testing::message_of;

Bytes read_all(ByteStream& stream) {
  Bytes content(1 << 20);
  content.resize(stream.read(content));
  return content;
}

TEST(ByteStream, GivesPlainBytesAsTheyAre) {
  const Bytes bytes = counting(1000);
  const auto stream = open_bytes(bytes, "a");
  EXPECT_EQ(stream->at_most(), 1000u);
  Bytes first(10);
  EXPECT_EQ(stream->read(first), 10u);
  EXPECT_EQ(first, counting(10));
  EXPECT_EQ(stream->at_most(), 990u);
  EXPECT_EQ(read_all(*stream).size(), 990u);
  EXPECT_EQ(stream->read(first), 0u);
  EXPECT_FALSE(stream->cut_short());
}

TEST(ByteStream, UnpacksGzip) {
  const Bytes packed = gzip(counting(100'000));
  const auto stream = open_bytes(packed, "a");
  EXPECT_GE(stream->at_most(), 100'000u);
  EXPECT_EQ(read_all(*stream), counting(100'000));
  EXPECT_EQ(stream->at_most(), 0u);
  EXPECT_FALSE(stream->cut_short());
}

// deflate's best: zeros shrink to about 1 / 1030.
TEST(ByteStream, BoundsWhatCanComeEvenForTheBestCompression) {
  const Bytes packed = gzip(Bytes(1 << 20, 0));
  EXPECT_LT(packed.size(), 1200u);
  EXPECT_GE(open_bytes(packed, "a")->at_most(), std::uint64_t{1} << 20);
}

TEST(ByteStream, JoinsTheMembersOfAGzipFile) {
  Bytes packed = gzip({1, 2, 3});
  for (const std::uint8_t byte : gzip({4, 5})) packed.push_back(byte);
  const auto stream = open_bytes(packed, "a");
  EXPECT_EQ(read_all(*stream), (Bytes{1, 2, 3, 4, 5}));
}

TEST(ByteStream, KnowsAShortenedGzipFileAtEveryLength) {
  const Bytes packed = gzip(counting(300));
  for (std::size_t size = 2; size < packed.size(); ++size) {
    const Bytes start(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
    const auto stream = open_bytes(start, "a");
    read_all(*stream);
    EXPECT_TRUE(stream->cut_short()) << size;
  }
}

TEST(ByteStream, RefusesADamagedGzipFile) {
  Bytes packed = gzip(counting(300));
  packed[packed.size() - 6] ^= 1;  // of its check sum
  const auto stream = open_bytes(packed, "set.gz");
  const auto message = message_of<DataError>([&] { read_all(*stream); });
  EXPECT_NE(message.find("set.gz: damaged gzip data"), std::string::npos) << message;
}

TEST(ByteStream, RefusesBytesAfterAGzipFile) {
  Bytes packed = gzip(counting(300));
  packed.insert(packed.end(), {1, 2, 3});
  const auto stream = open_bytes(packed, "set.gz");
  const auto message = message_of<DataError>([&] { read_all(*stream); });
  EXPECT_NE(message.find("set.gz: 3 bytes follow"), std::string::npos) << message;
}

}  // namespace
}  // namespace fedvg
