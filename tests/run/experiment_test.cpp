#include "run/experiment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <vector>

namespace fedvg {
namespace {

std::int64_t resident_bytes() {
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// The losses of two rounds.
std::vector<double> run_once() {
  Experiment experiment(load_configuration_text(R"(
[data]
name = "random"
training = 600
test = 100
[partition]
scheme = "iid"
clients = 12
[validation]
size = 50
[train]
participants = 6
epochs = 1
[engine]
workers = 1
[method]
name = "scaffold+fedvg"
)",
                                                "a test", {}),
                        "cpu");
  const std::atomic<bool> never = false;
  std::vector<double> losses;
  for (std::int64_t round = 1; round <= 2; ++round) {
    experiment.federation().run_round(round, experiment.cohorts().cohort(round), never);
    losses.push_back(experiment.federation().evaluate_test().loss);
  }
  return losses;
}

// A run leaves nothing behind, neither memory nor a number that the next would see.
TEST(Experiment, ManyInOneProcessAreAsTheFirst) {
  const auto first = run_once();
  for (int i = 0; i < 4; ++i) run_once();  // the heap settles
  const std::int64_t before = resident_bytes();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(run_once(), first);
  EXPECT_LT(resident_bytes(), before + before / 10);
}

}  // namespace
}  // namespace fedvg
