#include "data/channel_statistics.h"

#include <cstring>

#include "data/testing.h"

namespace fedvg {
namespace {

const std::vector<std::int64_t> both{0, 1};

// Two images of two channels of one pixel. Channel 0: 0 and 255, mean 1/2, deviation 1/2.
// Channel 1: 51 and 153, mean 102/255 = 0.4, deviation 51/255 = 0.2.
TEST(ChannelStatistics, AreOfEachChannel) {
  const Samples samples{
      .channels = 2, .height = 1, .width = 1, .pixels = {0, 51, 255, 153}, .labels = {0, 0}};
  const auto found = channel_statistics(samples, both);
  ASSERT_EQ(found.mean.size(), 2u);
  EXPECT_DOUBLE_EQ(found.mean[0], 0.5);
  EXPECT_DOUBLE_EQ(found.deviation[0], 0.5);
  EXPECT_DOUBLE_EQ(found.mean[1], 0.4);
  EXPECT_DOUBLE_EQ(found.deviation[1], 0.2);
}

TEST(ChannelStatistics, RefuseAConstantChannel) {
  const Samples samples{
      .channels = 1, .height = 1, .width = 2, .pixels = {7, 7, 7, 7}, .labels = {0, 0}};
  const auto message = testing::message_of<DataError>([&] { channel_statistics(samples, both); });
  EXPECT_NE(message.find("channel 0"), std::string::npos) << message;
}

TEST(ChannelStatistics, AreOfTheChosenSamplesOnly) {
  const Samples samples{.channels = 1,
                        .height = 1,
                        .width = 2,
                        .pixels = {0, 255, 9, 9, 51, 51},
                        .labels = {0, 0, 0}};
  const auto found = channel_statistics(samples, std::vector<std::int64_t>{0, 2});
  EXPECT_DOUBLE_EQ(found.mean[0], (255 + 51 + 51) / 4.0 / 255);
  EXPECT_TRUE(found.constant.empty());
}

Samples features(std::int64_t width, const std::vector<float>& numbers) {
  Samples samples{.channels = width, .height = 1, .width = 1, .is_features = true};
  samples.pixels.resize(numbers.size() * sizeof(float));
  std::memcpy(samples.pixels.data(), numbers.data(), samples.pixels.size());
  samples.labels.resize(numbers.size() / static_cast<std::size_t>(width));
  return samples;
}

// Feature 0: 1 and 5, mean 3, deviation 2. Feature 2: -1 and 0, mean and deviation 1/2.
TEST(ChannelStatistics, AreOfEachFeatureAndCenterAConstantOne) {
  const auto found = channel_statistics(features(3, {1, 0.1F, -1, 5, 0.1F, 0}), both);
  EXPECT_EQ(found.mean, (std::vector<double>{3, static_cast<double>(0.1F), -0.5}));
  EXPECT_EQ(found.deviation, (std::vector<double>{2, 1, 0.5}));
  EXPECT_EQ(found.constant, std::vector<std::int64_t>{1});
}

TEST(ChannelStatistics, OfOneChannelAreRepeated) {
  const auto three = repeated({{0.25}, {0.5}}, 3);
  EXPECT_EQ(three.mean, (std::vector<double>{0.25, 0.25, 0.25}));
  EXPECT_EQ(three.deviation, (std::vector<double>{0.5, 0.5, 0.5}));
}

}  // namespace
}  // namespace fedvg
