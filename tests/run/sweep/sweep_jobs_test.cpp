#include "run/sweep/sweep_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fedvg {
namespace {

using ::testing::ElementsAre;

const std::vector<int> kFour = {2, 3, 6, 7};

TEST(SweepJobs, ARunACoreWhereThereAreSoMany) {
  const Jobs jobs = divide_cores(kFour, {.runs = 4});
  EXPECT_THAT(jobs, ElementsAre(ElementsAre(2), ElementsAre(3), ElementsAre(6), ElementsAre(7)));
  EXPECT_EQ(jobs_text(jobs), "4 at a time, 1 core each");
}

TEST(SweepJobs, FewRunsGoOneAfterAnotherWithAllCores) {
  const Jobs jobs = divide_cores(kFour, {.runs = 3});
  EXPECT_THAT(jobs, ElementsAre(kFour));
  EXPECT_EQ(jobs_text(jobs), "one after another");
}

TEST(SweepJobs, AsManyAsFitWithTheConfiguredWorkersAndThreads) {
  EXPECT_THAT(divide_cores(kFour, {.runs = 9, .workers = 2}),
              ElementsAre(ElementsAre(2, 3), ElementsAre(6, 7)));
  EXPECT_THAT(divide_cores(kFour, {.runs = 1, .workers = 2}), ElementsAre(kFour));
  EXPECT_THAT(divide_cores(kFour, {.runs = 9, .threads = 2}),
              ElementsAre(ElementsAre(2, 3), ElementsAre(6, 7)));
  EXPECT_THAT(divide_cores(kFour, {.runs = 9, .workers = 8}), ElementsAre(kFour));
}

TEST(SweepJobs, AskedForIsObeyed) {
  EXPECT_THAT(divide_cores(kFour, {.runs = 9, .jobs = 1}), ElementsAre(kFour));
  const Jobs three = divide_cores(kFour, {.runs = 9, .jobs = 3});
  EXPECT_THAT(three, ElementsAre(ElementsAre(2), ElementsAre(3), ElementsAre(6, 7)));
  EXPECT_EQ(jobs_text(three), "3 at a time, 1 or 2 cores each");
  EXPECT_THAT(divide_cores(kFour, {.runs = 2, .jobs = 3}),
              ElementsAre(ElementsAre(2, 3), ElementsAre(6, 7)));
  EXPECT_THAT(divide_cores({5, 6}, {.runs = 9, .jobs = 3}),
              ElementsAre(ElementsAre(5), ElementsAre(6), ElementsAre(5)));
}

TEST(SweepJobs, RunsOnADeviceDoNotShareItUnasked) {
  EXPECT_THAT(divide_cores(kFour, {.runs = 9, .on_cpu = false}), ElementsAre(kFour));
}

}  // namespace
}  // namespace fedvg
