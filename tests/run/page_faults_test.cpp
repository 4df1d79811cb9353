// That training takes no memory from the system once it is warm. The federation is the real one;
// only its counters are read, in the worker's thread.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/federation.h"
#include "fedvg/correction.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"
#include "run/malloc_settings.h"

namespace fedvg {
namespace {

// As first thing in main of the program: before anything in this process is allocated in numbers.
const MallocSettings kMalloc = tune_malloc();

constexpr std::int64_t kClients = 12, kSamples = 128, kValidation = 320, kTest = 8;
constexpr std::int64_t kBatch = 32, kRounds = 8, kWarm = 4;
FederatedData data_of_clients() {
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
  data.dataset.training = draw(kClients * kSamples + kValidation);
  data.dataset.test = draw(kTest);
  std::int64_t next = 0;
  for (std::int64_t k = 0; k < kClients; ++k) {
    auto& client = data.clients.emplace_back();
    for (std::int64_t i = 0; i < kSamples; ++i) client.push_back(next++);
  }
  for (std::int64_t i = 0; i < kValidation; ++i) data.validation.push_back(next++);
  for (std::int64_t i = 0; i < kTest; ++i) data.test.push_back(i);
  return data;
}

std::int64_t faults_of_this_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

/// Plain local training that notes the thread's page faults at each step.
class StepFaults final : public Correction {
 public:
  explicit StepFaults(const NoOptions&) { counts().clear(); }
  static std::vector<std::int64_t>& counts() {
    static std::vector<std::int64_t> faults;
    return faults;
  }

  bool corrects_gradients() const override { return false; }
  at::Tensor loss(LocalContext&, const Batch&, const Output&, at::Tensor task) const override {
    counts().push_back(faults_of_this_thread());
    return task;
  }
};

FEDVG_REGISTER(Correction, "step-faults", StepFaults, NoOptions, "counts page faults");

/// Minor page faults of the one worker from the start of each client to the start of the next:
/// training, scoring and adding of one client in kRounds rounds.
std::vector<std::int64_t> faults_by_client() {
  const FederatedData data = data_of_clients();
  std::vector<std::int64_t> counts;
  counts.reserve(kRounds * kClients);
  FederationSetup setup;
  setup.model = {"cnn", {}};
  setup.method = compose_method("fedvg");
  setup.train.epochs = 1;
  setup.train.batch_size = kBatch;
  setup.engine.workers = 1;
  setup.before_training = [&counts](std::int64_t) { counts.push_back(faults_of_this_thread()); };
  Federation federation(data, setup);
  std::vector<std::int64_t> cohort;
  for (std::int64_t k = 0; k < kClients; ++k) cohort.push_back(k);
  for (std::int64_t round = 1; round <= kRounds; ++round) {
    federation.run_round(round, cohort, false);
  }
  std::vector<std::int64_t> faults;
  for (std::size_t k = 0; k + 1 < counts.size(); ++k) {
    faults.push_back(counts[k + 1] - counts[k]);
  }
  return faults;
}

// One client of 160 steps, counted from loss to loss.
TEST(PageFaults, AStepCausesNone) {
  if (kMalloc.trim_threshold == 0) GTEST_SKIP() << "malloc is not glibc's";
  constexpr std::int64_t kEpochs = 40, kWarmSteps = 20;
  const FederatedData data = data_of_clients();
  FederationSetup setup;
  setup.model = {"cnn", {}};
  setup.method = compose_method("fedavg");
  setup.method.correction = {"step-faults", {}};
  setup.train.epochs = kEpochs;
  setup.train.batch_size = kBatch;
  setup.engine.workers = 1;
  Federation federation(data, setup);
  auto& counts = StepFaults::counts();
  counts.reserve(kEpochs * kSamples / kBatch);
  federation.run_round(1, {0}, false);
  ASSERT_EQ(std::ssize(counts), kEpochs * kSamples / kBatch);
  EXPECT_GT(counts[kWarmSteps], 100) << "the counter counts";
  for (std::size_t step = kWarmSteps; step + 1 < counts.size(); ++step) {
    EXPECT_EQ(counts[step + 1] - counts[step], 0) << "in step " << step;
  }
}

// Each client 4 steps, then 10 batches of D_val. No faults but while the heap settles: the figures
// of a round's clients outlive its steps, and now and then one takes a hole that a batch's tensors
// had, which then need room of their own. With malloc's defaults a quarter of the clients have a
// thousand each.
TEST(PageFaults, TrainingAndScoringCauseNone) {
  if (kMalloc.trim_threshold == 0) GTEST_SKIP() << "malloc is not glibc's";
  const auto faults = faults_by_client();
  EXPECT_GT(faults[0], 100) << "the first client warms up: the counter counts";
  const auto warm = faults.begin() + kWarm * kClients;
  const auto with = faults.end() - warm - std::count(warm, faults.end(), 0);
  EXPECT_LE(with, (faults.end() - warm) / 10) << ::testing::PrintToString(faults);
}

}  // namespace
}  // namespace fedvg
