// That training takes no memory from the system once it is warm, as the program runs it: the engine
// under the malloc settings of src/run. Only counters are read, in the worker's thread.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/federation.h"
#include "fedvg/method.h"
#include "run/malloc_settings.h"

namespace fedvg {
namespace {

// As first thing in main of the program: before anything in this process is allocated in numbers.
const MallocSettings kMalloc = tune_malloc();

constexpr std::int64_t kSamples = 128, kValidation = 320, kTest = 8, kBatch = 32, kRounds = 20;

FederatedData data_of_one_client() {
  FederatedData data;
  data.dataset.name = "random";
  for (std::int64_t c = 0; c < 10; ++c) data.dataset.classes.push_back(std::to_string(c));
  const auto draw = [](std::int64_t number) {
    Samples samples{.channels = 1, .height = 28, .width = 28};
    Random random(1, "images", number);
    for (std::int64_t i = 0; i < number * samples.image_bytes(); ++i) {
      samples.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
    }
    for (std::int64_t i = 0; i < number; ++i) samples.labels.push_back(i % 10);
    return samples;
  };
  data.dataset.training = draw(kSamples + kValidation);
  data.dataset.test = draw(kTest);
  std::int64_t next = 0;
  auto& client = data.clients.emplace_back();
  for (std::int64_t i = 0; i < kSamples; ++i) client.push_back(next++);
  for (std::int64_t i = 0; i < kValidation; ++i) data.validation.push_back(next++);
  for (std::int64_t i = 0; i < kTest; ++i) data.test.push_back(i);
  return data;
}

std::int64_t faults_of_this_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

/// Minor page faults of the one worker from the start of the client's training in each round to
/// that in the next: 40 steps, 10 batches of D_val, the server's step.
std::vector<std::int64_t> faults_by_round() {
  const FederatedData data = data_of_one_client();
  std::vector<std::int64_t> counts;
  counts.reserve(kRounds);
  FederationSetup setup;
  setup.model = {"cnn", {}};
  setup.method = compose_method("fedvg");
  setup.train.epochs = 10;
  setup.train.batch_size = kBatch;
  setup.engine.workers = 1;
  setup.before_training = [&counts](std::int64_t) { counts.push_back(faults_of_this_thread()); };
  Federation federation(data, setup);
  for (std::int64_t round = 1; round <= kRounds; ++round) federation.run_round(round, {0}, false);
  std::vector<std::int64_t> faults;
  for (std::size_t r = 0; r + 1 < counts.size(); ++r) faults.push_back(counts[r + 1] - counts[r]);
  return faults;
}

// Rounds have none at all, so a step and a batch of D_val cause none. One or two grow the heap:
// what a round hands to the server outlives its steps, and takes a hole that a batch's tensors had,
// which then need room of their own, once; in a process that did other things before, a few rounds
// more. With malloc's defaults most rounds have faults.
TEST(PageFaults, StepsAndScoringCauseNone) {
  if (kMalloc.trim_threshold == 0) GTEST_SKIP() << "malloc is not glibc's";
  const auto faults = faults_by_round();
  RecordProperty("faults", ::testing::PrintToString(faults));
  EXPECT_GT(faults[0], 100) << "the first round warms up: the counter counts";
  EXPECT_GE(std::count(faults.end() - 8, faults.end(), 0), 6) << ::testing::PrintToString(faults);
}

}  // namespace
}  // namespace fedvg
