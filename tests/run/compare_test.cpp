#include "run/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fedvg/error.h"
#include "run/comparison_table.h"
#include "run/csv.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct MadeUp {
  std::string method = "fedavg";
  int seed = 1;
  std::vector<std::string> accuracies;  // of each round; "" was not measured
  std::string alpha = "0.1";
  std::string weighting = "size";
  int rounds = 0;  // as configured; 0: as many as there are accuracies
  int workers = 2;
  bool voided = false;
};

class Compare : public ::testing::Test {
 protected:
  std::filesystem::path run(const std::string& name, const MadeUp& run) {
    const int rounds = run.rounds ? run.rounds : static_cast<int>(run.accuracies.size());
    const auto config =
        folder_.file(name + "/config.toml",
                     "seed = " + std::to_string(run.seed) + "\n[partition]\nalpha = " + run.alpha +
                         "\n[train]\nrounds = " + std::to_string(rounds) + "\n[method]\nname = \"" +
                         run.method + "\"\nweighting = {name = \"" + run.weighting +
                         "\"}\n[engine]\nworkers = " + std::to_string(run.workers) + "\n");
    std::string csv = "round,test_accuracy,test_loss,weight_max\n";
    for (std::size_t i = 0; i < run.accuracies.size(); ++i) {
      csv += std::to_string(i + 1) + "," + run.accuracies[i] + ",1.5," +
             (run.voided && i == 0 ? "" : "0.5") + "\n";
    }
    folder_.file(name + "/rounds.csv", csv);
    return config.parent_path();
  }

  TestFolder folder_;
};

// Seeds end at 0.5 and 0.7: mean 0.6, deviation sqrt((0.01 + 0.01) / 1) = 0.1414. Their
// last two rounds have means 0.45 and 0.6: mean 0.525, deviation 0.15 / sqrt(2) = 0.1061.
TEST_F(Compare, SeedsOfOneSettingAreOneGroup) {
  const auto result =
      compare_runs({run("a", {.seed = 1, .accuracies = {"0.1", "0.4", "0.5"}}),
                    run("b", {.seed = 2, .accuracies = {"0.2", "0.5", "0.7"}, .workers = 7})},
                   {.last = 2});
  ASSERT_EQ(result.groups.size(), 1U);
  const RunGroup& group = result.groups[0];
  EXPECT_EQ(group.label, "fedavg");
  EXPECT_EQ(group.rounds, 3);
  EXPECT_THAT(group.seeds, ElementsAre(1, 2));
  EXPECT_NEAR(group.final_value.mean, 0.6, 1e-12);
  EXPECT_NEAR(*group.final_value.deviation, std::sqrt(0.02), 1e-12);
  EXPECT_NEAR(group.last_mean.mean, 0.525, 1e-12);
  EXPECT_NEAR(*group.last_mean.deviation, 0.15 / std::sqrt(2.0), 1e-12);
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST_F(Compare, RoundsThatWereNotMeasuredAreNoZeros) {
  const auto result = compare_runs({run("a", {.accuracies = {"0.4", "", "0.6"}})}, {.last = 3});
  EXPECT_DOUBLE_EQ(result.groups.at(0).last_mean.mean, 0.5);
  EXPECT_FALSE(result.groups.at(0).last_mean.deviation.has_value());
}

TEST_F(Compare, ARunWithoutFiniteNumbersIsLeftOut) {
  const auto result = compare_runs({run("a", {.accuracies = {"0.4", "0.6"}}),
                                    run("b", {.seed = 2, .accuracies = {"0.4", "nan"}})},
                                   {.last = 2});
  EXPECT_THAT(result.groups.at(0).seeds, ElementsAre(1));
  EXPECT_THAT(result.notes,
              ElementsAre(HasSubstr("b is left out: test_accuracy is not finite in its last")));
}

TEST_F(Compare, WhatTellsGroupsApartIsInTheirLabels) {
  const auto result = compare_runs(
      {run("a", {.accuracies = {"0.4"}}), run("b", {.accuracies = {"0.5"}, .alpha = "1.0"}),
       run("c", {.method = "fedvg", .accuracies = {"0.5"}, .weighting = "fedvg"})},
      {.last = 1});
  EXPECT_EQ(result.groups.at(0).label, "fedavg partition.alpha=0.1");
  EXPECT_EQ(result.groups.at(1).label, "fedavg partition.alpha=1.0");
  EXPECT_EQ(result.groups.at(2).label, "fedvg partition.alpha=0.1");
}

TEST_F(Compare, PartsOfAMethodAreToldWhereItsNameIsNotEnough) {
  const auto result = compare_runs({run("a", {.accuracies = {"0.4"}}),
                                    run("b", {.accuracies = {"0.5"}, .weighting = "uniform"})},
                                   {.last = 1});
  EXPECT_EQ(result.groups.at(0).label, "fedavg method.weighting.name=\"size\"");
  EXPECT_EQ(result.groups.at(1).label, "fedavg method.weighting.name=\"uniform\"");
}

TEST_F(Compare, UnfinishedMissingAndDoubledRunsAreLeftOutAndNamed) {
  const auto whole = run("whole", {.accuracies = {"0.5", "0.6"}});
  folder_.file("empty/notes.txt", "");
  const auto result =
      compare_runs({whole, run("unfinished", {.seed = 2, .accuracies = {"0.9"}, .rounds = 2}),
                    folder_.path() / "absent", folder_.path() / "empty",
                    folder_.path() / "." / "whole", run("copy", {.accuracies = {"0.9", "0.9"}})},
                   {.last = 1});
  ASSERT_EQ(result.groups.size(), 1U);
  EXPECT_THAT(result.groups[0].seeds, ElementsAre(1));
  EXPECT_EQ(result.groups[0].final_value.mean, 0.6);
  EXPECT_THAT(
      result.notes,
      ElementsAre(HasSubstr("unfinished is left out: it has 1 of 2 rounds"),
                  HasSubstr("absent: no such folder"),
                  HasSubstr("empty/config.toml: missing: not the folder of a run"),
                  HasSubstr("whole is left out: named twice"),
                  HasSubstr("copy is left out: another run has its settings and its seed, 1")));
}

TEST_F(Compare, NothingLeftIsAnErrorThatSaysWhy) {
  EXPECT_THAT(message_of<RunError>([&] { compare_runs({folder_.path() / "absent"}, {}); }),
              HasSubstr("no run is left to compare\n"));
}

TEST_F(Compare, DifferentLengthsAreSaid) {
  const auto result = compare_runs({run("a", {.accuracies = {"0.5", "0.6"}}),
                                    run("b", {.method = "fedvg", .accuracies = {"0.5"}})},
                                   {.last = 2});
  EXPECT_THAT(result.notes,
              ElementsAre("runs of different length are compared: fedavg train.rounds=2: 2 rounds; "
                          "fedvg train.rounds=1: 1 rounds",
                          HasSubstr("a run of 1 rounds has no last 2")));
}

TEST_F(Compare, VoidRoundsAreSaid) {
  const auto result =
      compare_runs({run("a", {.accuracies = {"0.5", "0.6"}, .voided = true})}, {.last = 1});
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("a: 1 of 2 rounds were void")));
}

TEST_F(Compare, AnUnknownMetricIsRefusedWithTheColumns) {
  const auto folder = run("a", {.accuracies = {"0.5"}});
  EXPECT_THAT(message_of<OptionError>([&] { compare_runs({folder}, {.metric = "accuracy"}); }),
              HasSubstr("test_accuracy"));
}

TEST_F(Compare, ADamagedTableIsLeftOut) {
  const auto gap = run("gap", {.accuracies = {"0.5"}});
  folder_.file("gap/rounds.csv", "round,test_accuracy\n2,0.5\n");
  EXPECT_THAT(message_of<RunError>([&] { compare_runs({gap}, {}); }),
              HasSubstr("rounds.csv:2: round '2' where 1 was due"));
}

class ComparisonTable : public ::testing::Test {
 protected:
  static Comparison three(const std::string& metric = "test_accuracy") {
    return {.options = {.metric = metric, .last = 10},
            .groups = {{"fedavg", 50, {1, 2}, {0.48, 0.02}, {0.47, 0.01}},
                       {"fedvg", 50, {1, 2}, {0.53, 0.03}, {0.5, 0.02}},
                       {"fedprox", 50, {1}, {0.5, std::nullopt}, {0.51, std::nullopt}}},
            .notes = {}};
  }
  static Marks marks() {
    return {[](const std::string& text) { return "<" + text + ">"; },
            [](const std::string& text) { return "(" + text + ")"; }};
  }
};

TEST_F(ComparisonTable, MarksTheBestAndTheSecondOfEachColumn) {
  EXPECT_EQ(comparison_text(three(), marks()),
            "method   seeds  final test_accuracy  mean of last 10\n"
            "fedavg   2      0.4800 ± 0.0200      0.4700 ± 0.0100\n"
            "fedvg    2      <0.5300 ± 0.0300>      (0.5000 ± 0.0200)\n"
            "fedprox  1      (0.5000)               <0.5100>\n");
}

TEST_F(ComparisonTable, OfALossTheSmallestIsBest) {
  EXPECT_THAT(comparison_text(three("test_loss"), marks()), HasSubstr("<0.4800 ± 0.0200>"));
  EXPECT_THAT(comparison_text(three("seconds"), marks()), HasSubstr("<0.4800 ± 0.0200>"));
}

TEST_F(ComparisonTable, WhatIsNoMeritIsNotMarked) {
  EXPECT_THAT(comparison_text(three("weight_max"), marks()), Not(HasSubstr("<")));
}

TEST_F(ComparisonTable, EqualMeansShareTheirRank) {
  Comparison comparison = three();
  for (RunGroup& group : comparison.groups) group.final_value = {0.5, std::nullopt};
  const std::string text = comparison_text(comparison, marks());
  EXPECT_THAT(text, Not(HasSubstr("(0.5000)")));
  EXPECT_THAT(text, HasSubstr("fedprox  1      <0.5000>"));
}

TEST_F(ComparisonTable, MarkdownBoldsTheBestAndUnderlinesTheSecond) {
  EXPECT_EQ(comparison_markdown(three()),
            "| method | seeds | final test_accuracy | mean of last 10 |\n"
            "| --- | ---: | ---: | ---: |\n"
            "| fedavg | 2 | 0.4800 ± 0.0200 | 0.4700 ± 0.0100 |\n"
            "| fedvg | 2 | **0.5300 ± 0.0300** | <u>0.5000 ± 0.0200</u> |\n"
            "| fedprox | 1 | <u>0.5000</u> | **0.5100** |\n");
}

TEST_F(ComparisonTable, CsvHasEveryFigureAndNoDeviationOfOneSeed) {
  EXPECT_EQ(comparison_csv(three()),
            "method,metric,rounds,seeds,final_mean,final_std,last,last_mean,last_std\n"
            "fedavg,test_accuracy,50,2,0.48,0.02,10,0.47,0.01\n"
            "fedvg,test_accuracy,50,2,0.53,0.03,10,0.5,0.02\n"
            "fedprox,test_accuracy,50,1,0.5,,10,0.51,\n");
}

}  // namespace
}  // namespace fedvg
