#include "data/channel_statistics.h"

#include <cmath>

#include "data/testing.h"

namespace fedvg {
namespace {

// Two images of two channels of one pixel. Channel 0: 0 and 255, mean 1/2, deviation 1/2.
// Channel 1: 51 and 153, mean 102/255 = 0.4, deviation 51/255 = 0.2.
TEST(ChannelStatistics, AreOfEachChannel) {
  const Samples samples{
      .channels = 2, .height = 1, .width = 1, .pixels = {0, 51, 255, 153}, .labels = {0, 0}};
  const auto found = channel_statistics(samples);
  ASSERT_EQ(found.mean.size(), 2u);
  EXPECT_DOUBLE_EQ(found.mean[0], 0.5);
  EXPECT_DOUBLE_EQ(found.deviation[0], 0.5);
  EXPECT_DOUBLE_EQ(found.mean[1], 0.4);
  EXPECT_DOUBLE_EQ(found.deviation[1], 0.2);
}

TEST(ChannelStatistics, RefuseAConstantChannel) {
  const Samples samples{
      .channels = 1, .height = 1, .width = 2, .pixels = {7, 7, 7, 7}, .labels = {0, 0}};
  const auto message = testing::message_of<DataError>([&] { channel_statistics(samples); });
  EXPECT_NE(message.find("channel 0"), std::string::npos) << message;
}

}  // namespace
}  // namespace fedvg
