#include "speed/round_speed.h"

#include <gtest/gtest.h>

namespace fedvg {
namespace {

ClientRecord client(std::int64_t samples, std::int64_t steps, double seconds_score = 0) {
  return {.samples = samples, .steps = steps, .seconds_score = seconds_score};
}

TEST(ImagesTrained, CountsEveryPass) {
  const TrainOptions train{.epochs = 5, .batch_size = 32};
  EXPECT_EQ(images_trained(client(100, 20), train), 500);
  EXPECT_EQ(images_trained(client(64, 10), train), 320);
  EXPECT_EQ(images_trained(client(7, 5), train), 35);
  EXPECT_EQ(images_trained(client(1, 0), train), 0);
  // 33 samples in one step an epoch: the batch of one was skipped.
  EXPECT_EQ(images_trained(client(33, 5), train), 160);
  EXPECT_EQ(images_trained(client(33, 10), train), 165);
}

TEST(ImagesTrained, CountsStepsInsteadOfEpochs) {
  // Batches of 32, 32, 6, 32, 32, 6, 32.
  EXPECT_EQ(images_trained(client(70, 7), {.steps = 7, .batch_size = 32}), 172);
  EXPECT_EQ(images_trained(client(5, 3), {.steps = 3, .batch_size = 32}), 15);
}

TEST(RoundImages, AreSumsOverParticipants) {
  RoundRecord record;
  record.clients = {client(100, 20, 0.5), client(10, 5, 0.25), client(1, 0)};
  EXPECT_EQ(images_trained(record, {.epochs = 5, .batch_size = 32}), 550);
  EXPECT_EQ(images_scored(record), 0);
  record.scored = 600;
  EXPECT_EQ(images_scored(record), 1200);
}

TEST(PhaseSeconds, OtherIsWhatIsLeft) {
  const RoundRecord record{
      .seconds = 10, .seconds_train = 4, .seconds_score = 3, .seconds_combine = 1};
  const PhaseSeconds seconds = phase_seconds(record, 2.5);
  EXPECT_DOUBLE_EQ(seconds.other, 2);
  EXPECT_DOUBLE_EQ(seconds.round, 12.5);
  EXPECT_DOUBLE_EQ(seconds.evaluate, 2.5);
  EXPECT_DOUBLE_EQ(phase_seconds({.seconds = 1, .seconds_train = 1.5}, 0).other, 0);
}

TEST(ThreadsLeft, AreOfCoresWithoutAWorker) {
  EXPECT_EQ(threads_left(1, 1, 0, 2), 2);
  EXPECT_EQ(threads_left(3, 1, 0, 16), 5);
  EXPECT_FALSE(threads_left(2, 1, 0, 2));
  EXPECT_FALSE(threads_left(3, 1, 0, 5));
  EXPECT_FALSE(threads_left(1, 2, 0, 2)) << "there are threads";
  EXPECT_FALSE(threads_left(1, 1, 1, 8)) << "one worker was asked for";
  EXPECT_EQ(threads_left(2, 1, 4, 16), 2);
  EXPECT_EQ(threads_left(1, 1, 64, 2), 2);
}

// Ratios 2, 4, 3: their median is 3, the medians' ratio would be 2.7.
TEST(SpeedOf, TakesRatiosByRepetition) {
  const PhaseSpeed speed = speed_of({{20, 10.0}, {60, 15.0}, {27, 9.0}});
  EXPECT_DOUBLE_EQ(speed.images_per_second_core, 27);
  EXPECT_DOUBLE_EQ(*speed.stock, 10);
  EXPECT_DOUBLE_EQ(*speed.ratio, 3);
  EXPECT_DOUBLE_EQ(*speed.ratio_least, 2);
  EXPECT_DOUBLE_EQ(*speed.ratio_most, 4);
  const PhaseSpeed alone = speed_of({{5, {}}, {7, {}}});
  EXPECT_DOUBLE_EQ(alone.images_per_second_core, 6);
  EXPECT_FALSE(alone.stock || alone.ratio || alone.ratio_least || alone.ratio_most);
}

TEST(MediansOf, EachPhaseByItself) {
  const PhaseSeconds medians =
      medians_of({{1, 20, 3, 4, 5, 60}, {7, 8, 9, 1, 2, 3}, {2, 9, 4, 3, 1, 5}});
  EXPECT_DOUBLE_EQ(medians.train, 2);
  EXPECT_DOUBLE_EQ(medians.score, 9);
  EXPECT_DOUBLE_EQ(medians.combine, 4);
  EXPECT_DOUBLE_EQ(medians.evaluate, 3);
  EXPECT_DOUBLE_EQ(medians.other, 2);
  EXPECT_DOUBLE_EQ(medians.round, 5);
}

}  // namespace
}  // namespace fedvg
