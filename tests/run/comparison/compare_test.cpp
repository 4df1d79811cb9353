#include "run/comparison/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fedvg/error.h"
#include "run/comparison/made_up_runs.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Compare : public MadeUpRuns {
 protected:
  // Of each method at alpha 0.1 and 1.0, seeds 1 to `seeds`. fedvg is better by 0.01 * seed,
  // but at alpha 1.0 and seed 1 worse by 0.05.
  std::vector<std::filesystem::path> methods_by_alpha(int seeds) {
    std::vector<std::filesystem::path> folders;
    for (const char* alpha : {"0.1", "1.0"}) {
      for (int seed = 1; seed <= seeds; ++seed) {
        const bool worse = std::string(alpha) == "1.0" && seed == 1;
        const std::string name = std::string(alpha) + std::to_string(seed);
        folders.push_back(run("avg" + name, {.seed = seed, .accuracies = {"0.5"}, .alpha = alpha}));
        folders.push_back(
            run("vg" + name, {.method = "fedvg",
                              .seed = seed,
                              .accuracies = {worse ? "0.45" : "0.5" + std::to_string(seed)},
                              .alpha = alpha,
                              .weighting = "fedvg"}));
      }
    }
    return folders;
  }
};

std::string fault(const CompareOptions& options) {
  return message_of<OptionError>([&] { compare_runs({}, options); });
}

// Seeds end at 0.5 and 0.7: mean 0.6, deviation sqrt((0.01 + 0.01) / 1) = 0.1414. Their
// last two rounds have means 0.45 and 0.6: mean 0.525, deviation 0.15 / sqrt(2) = 0.1061.
TEST_F(Compare, SeedsOfOneSettingAreOneRowOfTwoFigures) {
  const auto result =
      compare_runs({run("a", {.seed = 1, .accuracies = {"0.1", "0.4", "0.5"}}),
                    run("b", {.seed = 2, .accuracies = {"0.2", "0.5", "0.7"}, .workers = 7})},
                   {.last = 2});
  ASSERT_EQ(result.rows.size(), 1U);
  const ComparedRow& row = result.rows[0];
  EXPECT_EQ(row.label, "fedavg");
  EXPECT_EQ(row.rounds, 3);
  ASSERT_EQ(row.cells.size(), 2U);
  EXPECT_THAT(row.cells[0].seeds, ElementsAre(1, 2));
  EXPECT_NEAR(row.cells[0].spread->mean, 0.6, 1e-12);
  EXPECT_NEAR(*row.cells[0].spread->deviation, std::sqrt(0.02), 1e-12);
  EXPECT_NEAR(row.cells[1].spread->mean, 0.525, 1e-12);
  EXPECT_NEAR(*row.cells[1].spread->deviation, 0.15 / std::sqrt(2.0), 1e-12);
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST_F(Compare, AtMakesOneFigure) {
  const auto folder = run("a", {.accuracies = {"0.1", "0.4", "0.6"}});
  const auto result = compare_runs({folder}, {.at = "last:2"});
  ASSERT_EQ(result.rows[0].cells.size(), 1U);
  EXPECT_DOUBLE_EQ(result.rows[0].cells[0].spread->mean, 0.5);
}

TEST_F(Compare, ARunWithoutFiniteNumbersIsLeftOut) {
  const auto result = compare_runs({run("a", {.accuracies = {"0.4", "0.6"}}),
                                    run("b", {.seed = 2, .accuracies = {"0.4", "nan"}})},
                                   {.last = 2});
  EXPECT_THAT(result.rows.at(0).cells[0].seeds, ElementsAre(1));
  EXPECT_THAT(result.notes,
              ElementsAre(HasSubstr("b is left out: test_accuracy is not finite in its last")));
}

TEST_F(Compare, ASweepIsItsRuns) {
  folder_.file("s/sweep.toml", "");
  folder_.file("s/runs.json", R"([{"folder": "a"}, {"folder": "b"}, {"folder": "c"}])");
  run("s/a", {.seed = 1, .accuracies = {"0.4"}});
  run("s/b", {.seed = 2, .accuracies = {"0.6"}});
  const auto result = compare_runs({folder_.path() / "s"}, {.last = 1});
  EXPECT_THAT(result.rows.at(0).cells[0].seeds, ElementsAre(1, 2));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("1 of 3 planned runs are missing: c")));
}

TEST_F(Compare, NothingLeftIsAnErrorThatSaysWhy) {
  EXPECT_THAT(message_of<RunError>([&] { compare_runs({folder_.path() / "absent"}, {}); }),
              ::testing::AllOf(HasSubstr("no run is left to compare\n"), HasSubstr("absent")));
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

TEST_F(Compare, ColumnsMakeAGridOfMethods) {
  const auto result = compare_runs(methods_by_alpha(2), {.columns = {"partition.alpha"}});
  EXPECT_THAT(result.options.rows, ElementsAre("method"));
  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_EQ(result.rows[1].label, "fedvg");
  ASSERT_EQ(result.columns.size(), 2U);
  EXPECT_THAT(result.columns[1].values, ElementsAre("1.0"));
  EXPECT_DOUBLE_EQ(result.rows[1].cells[0].spread->mean, 0.515);
  EXPECT_DOUBLE_EQ(result.rows[1].cells[1].spread->mean, 0.485);
  EXPECT_THAT(result.notes, IsEmpty());
}

// Differences 0.01, 0.02, 0.03 and, at alpha 1.0, -0.05, 0.02, 0.03: ranks 1, 2.5, 2.5, 4.5,
// 4.5 up and 6 down. Of 64 assignments of signs 26 have a positive sum <= 6 or >= 15.
TEST_F(Compare, ABaselineIsTestedOverPooledPairs) {
  const auto result =
      compare_runs(methods_by_alpha(3), {.columns = {"partition.alpha"}, .baseline = "fedavg"});
  EXPECT_EQ(*result.baseline, 0U);
  EXPECT_FALSE(result.rows[0].test.has_value());
  const BaselineTest& test = *result.rows[1].test;
  EXPECT_EQ(test.test.pairs, 6U);
  EXPECT_EQ(test.test.used, 6U);
  EXPECT_EQ(test.test.plus, 15.0);
  EXPECT_EQ(test.test.minus, 6.0);
  EXPECT_EQ(*test.test.effect, 9.0 / 21.0);
  EXPECT_EQ(*test.p, 26.0 / 64);
  EXPECT_EQ(*test.p, *test.p_adjusted);
}

TEST_F(Compare, WithoutColumnsABaselineIsTestedOverSeeds) {
  auto folders = methods_by_alpha(3);
  folders.resize(6);  // alpha 0.1
  const auto result = compare_runs(folders, {.last = 1, .baseline = "fedavg"});
  EXPECT_EQ(result.rows[1].test->test.pairs, 3U);
  EXPECT_EQ(*result.rows[1].test->p, 0.25);
}

TEST_F(Compare, HolmCountsTheComparisonsOfTheCall) {
  std::vector<std::filesystem::path> folders;
  for (const char* method : {"fedavg", "fedvg", "fedprox"}) {
    for (int seed = 1; seed <= 5; ++seed) {
      const std::string value =
          std::string(method) == "fedavg" ? "0.5" : "0.6" + std::to_string(seed);
      folders.push_back(run(method + std::to_string(seed),
                            {.method = method, .seed = seed, .accuracies = {value}}));
    }
  }
  const auto result = compare_runs(folders, {.last = 1, .baseline = "fedavg"});
  EXPECT_EQ(*result.rows[1].test->p, 0.0625);
  EXPECT_EQ(*result.rows[1].test->p_adjusted, 0.125);
  EXPECT_EQ(*result.rows[2].test->p_adjusted, 0.125);
}

TEST_F(Compare, ZerosAndResultsWithoutPartnerAreNamed) {
  const auto result = compare_runs(
      {run("a1", {.seed = 1, .accuracies = {"0.5"}}), run("a2", {.seed = 2, .accuracies = {"0.5"}}),
       run("v1", {.method = "fedvg", .seed = 1, .accuracies = {"0.5"}}),
       run("v3", {.method = "fedvg", .seed = 3, .accuracies = {"0.9"}}),
       run("p4", {.method = "fedprox", .seed = 4, .accuracies = {"0.9"}})},
      {.last = 1, .baseline = "fedavg"});
  EXPECT_EQ(*result.rows[1].test->p, 1.0);
  EXPECT_FALSE(result.rows[2].test->p.has_value());
  EXPECT_FALSE(result.rows[2].test->p_adjusted.has_value());
  EXPECT_THAT(
      result.notes,
      ElementsAre(
          "fedvg against fedavg: not paired, as only one of the two has it: seed 3, seed 2",
          "fedvg against fedavg: all 1 differences are 0, so p is 1",
          "fedprox against fedavg: not paired, as only one of the two has it: seed 4, seed 1, "
          "seed 2",
          "fedprox against fedavg: no pair (n = 0), so no test"));
}

// 2 rounds, 1 round and never, against never, 2 rounds and never.
TEST_F(Compare, ATargetThatIsNotReachedIsNoNumberAndTheLastInTheTest) {
  const auto result =
      compare_runs({run("a1", {.seed = 1, .accuracies = {"0.1", "0.2"}}),
                    run("a2", {.seed = 2, .accuracies = {"0.1", "0.5"}}),
                    run("a3", {.seed = 3, .accuracies = {"0.1", "0.1"}}),
                    run("v1", {.method = "fedvg", .seed = 1, .accuracies = {"0.1", "0.5"}}),
                    run("v2", {.method = "fedvg", .seed = 2, .accuracies = {"0.5", "0.5"}}),
                    run("v3", {.method = "fedvg", .seed = 3, .accuracies = {"0.1", "0.1"}})},
                   {.metric = "rounds-to:0.5", .baseline = "fedavg"});
  const SeedResults& fedavg = result.rows[0].cells[0];
  EXPECT_EQ(fedavg.never, 2U);
  EXPECT_EQ(fedavg.limit, 2);
  EXPECT_EQ(fedavg.spread->mean, 2);
  EXPECT_FALSE(fedavg.spread->deviation.has_value());
  EXPECT_EQ(result.rows[1].cells[0].spread->mean, 1.5);
  const SignedRank& test = result.rows[1].test->test;
  EXPECT_EQ(test.pairs, 3U);
  EXPECT_EQ(test.used, 2U);
  EXPECT_EQ(*test.effect, -1.0);
}

TEST_F(Compare, AMethodOfSeveralRowsIsNoBaseline) {
  const auto folders = methods_by_alpha(1);
  EXPECT_THAT(
      message_of<OptionError>([&] { compare_runs(folders, {.last = 1, .baseline = "fedavg"}); }),
      HasSubstr("--baseline: 'fedavg' is 2 rows: fedavg partition.alpha=0.1; fedavg "
                "partition.alpha=1.0; name one of them, or pool over what differs"));
  EXPECT_EQ(*compare_runs(folders, {.last = 1, .baseline = "fedavg partition.alpha=1.0"}).baseline,
            2U);
  EXPECT_EQ(*compare_runs({folders[0], folders[3]}, {.last = 1, .baseline = "fedvg"}).baseline, 1U);
}

TEST_F(Compare, AnUnknownBaselineIsRefusedWithTheRows) {
  const auto folders = methods_by_alpha(1);
  EXPECT_THAT(message_of<OptionError>([&] {
                compare_runs(folders, {.columns = {"partition.alpha"}, .baseline = "fedvgg"});
              }),
              HasSubstr("--baseline: unknown row 'fedvgg'; did you mean 'fedvg'? known: fedavg, "
                        "fedvg"));
  EXPECT_THAT(message_of<OptionError>(
                  [&] { compare_runs({folders[0]}, {.last = 1, .baseline = "fedavg"}); }),
              HasSubstr("no other row"));
}

TEST_F(Compare, WhatDoesNotGoTogetherIsRefusedBeforeAnythingIsRead) {
  EXPECT_THAT(fault({.metric = "bytes", .at = "best"}), HasSubstr("--at: a column has a value"));
  EXPECT_THAT(fault({.at = "last:5", .last = 5, .last_given = true}), HasSubstr("--last: there"));
  EXPECT_THAT(fault({.last = 5, .last_given = true, .columns = {"a"}}), HasSubstr("--last: there"));
  EXPECT_THAT(fault({.metric = "bytes", .last = 5, .last_given = true}), HasSubstr("--last: "));
  EXPECT_THAT(fault({.last = 0}), HasSubstr("--last: must be >= 1, got 0"));
  EXPECT_THAT(fault({.rows = {"seed"}}), HasSubstr("--rows: seed: results are averaged over"));
  EXPECT_THAT(fault({.rows = {"method"}, .columns = {"method.name"}}),
              HasSubstr("--columns: method.name is named twice"));
  EXPECT_THAT(fault({.rows = {"method", ""}}), HasSubstr("--rows: an empty name"));
  EXPECT_EQ(problems_of({.metric = "rounds-to:x", .at = "end", .rows = {"seed"}}).size(), 3U);
}

}  // namespace
}  // namespace fedvg
