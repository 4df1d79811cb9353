#include "run/comparison/counted_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/comparison/made_up_runs.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CountedRuns : public MadeUpRuns {
 protected:
  std::vector<std::string> methods(const std::vector<std::filesystem::path>& folders,
                                   const std::string& metric = "test_accuracy") {
    notes.clear();
    std::vector<std::string> methods;
    for (const auto& run : count_runs(folders, parse_metric(metric), {MetricAt{}}, notes)) {
      methods.push_back(run.method);
    }
    return methods;
  }

  std::vector<std::string> notes;
};

TEST_F(CountedRuns, UnfinishedMissingAndDoubledRunsAreLeftOutAndNamed) {
  folder_.file("empty/notes.txt", "");
  const auto long_run = run("long", {.accuracies = {"0.5", "0.6"}, .rounds = 1});
  const auto open = run("open", {.accuracies = {"0.5", "0.6"}});
  folder_.file("open/run.json", R"({"finished": false})");
  EXPECT_THAT(
      methods({run("whole", {.accuracies = {"0.5", "0.6"}}),
               run("unfinished", {.accuracies = {"0.9"}, .rounds = 2}), folder_.path() / "absent",
               folder_.path() / "empty", folder_.path() / "." / "whole", long_run, open}),
      ElementsAre("fedavg"));
  EXPECT_THAT(notes,
              ElementsAre(HasSubstr("absent: no such folder"),
                          HasSubstr("empty/config.toml: missing: not the folder of a run"),
                          HasSubstr("whole is left out: named twice"),
                          HasSubstr("unfinished is left out: it has 1 of 2 rounds"),
                          HasSubstr("long is left out: it has 2 rounds, but its configuration "
                                    "asks for 1"),
                          HasSubstr("open is left out: it is not finished: run.json says so")));
}

TEST_F(CountedRuns, ARunThatStoppedEarlyCountsAndIsNamed) {
  const auto folder = run("a", {.accuracies = {"0.5", "0.6"}, .rounds = 9});
  folder_.file("a/run.json", R"({"finished": true, "rounds": 2, "stopped": "early"})");
  EXPECT_THAT(methods({folder}), ElementsAre("fedavg"));
  EXPECT_THAT(notes, ElementsAre(::testing::AllOf(HasSubstr("stopped early: "),
                                                  HasSubstr("a (2 of 9 rounds)"))));
}

TEST_F(CountedRuns, VoidRoundsAreSaid) {
  EXPECT_THAT(methods({run("a", {.accuracies = {"0.5", "0.6"}, .voided = true})}),
              ElementsAre("fedavg"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("a: 1 of 2 rounds were void")));
}

TEST_F(CountedRuns, AColumnThatOnlySomeHaveLeavesTheOthersOut) {
  const auto a = run("a", {.accuracies = {"0.5"}});
  const auto b = run("b", {.method = "fedvg", .accuracies = {"0.5"}});
  rounds("b", "round,test_accuracy\n1,0.5\n");
  EXPECT_THAT(methods({a, b}, "test_loss"), ElementsAre("fedavg"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("b is left out: its rounds.csv has no column")));
}

TEST_F(CountedRuns, AColumnThatNoneHasIsRefusedWithTheColumns) {
  const auto folder = run("a", {.accuracies = {"0.5"}});
  EXPECT_THAT(message_of<OptionError>([&] { methods({folder}, "accuracy"); }),
              HasSubstr("unknown column 'accuracy' in rounds.csv; known: bytes, bytes-to:X, "
                        "bytes_down, bytes_up, rounds-to:X, test_accuracy, test_loss"));
  EXPECT_THAT(message_of<OptionError>([&] { methods({folder}, "rounds-to:val_accuracy:0.5"); }),
              HasSubstr("unknown column 'val_accuracy'"));
}

TEST_F(CountedRuns, RunsThatNeverReachTheTargetAreNamed) {
  methods({run("a", {.accuracies = {"0.5", "0.7"}}), run("b", {.accuracies = {"0.5", "0.6"}})},
          "rounds-to:0.7");
  EXPECT_THAT(notes,
              ElementsAre(::testing::AllOf(HasSubstr("1 of 2 runs never reach test_accuracy 0.7: "),
                                           ::testing::EndsWith("/b"))));
}

TEST_F(CountedRuns, NothingIsSaidOfWholeRuns) {
  methods({run("a", {.accuracies = {"0.5", "0.7"}})});
  EXPECT_THAT(notes, IsEmpty());
}

}  // namespace
}  // namespace fedvg
