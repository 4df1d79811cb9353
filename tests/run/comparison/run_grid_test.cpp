#include "run/comparison/run_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CountedRun a_run(const std::string& method, const std::string& alpha, std::int64_t seed,
                 const Settings& more = {}) {
  CountedRun run;
  run.folder = method + "-" + alpha + "-" + std::to_string(seed);
  run.method = method;
  run.seed = seed;
  run.settings = {{"seed", std::to_string(seed)},
                  {"method.name", "\"" + method + "\""},
                  {"method.weighting.name", method == "fedvg" ? "\"fedvg\"" : "\"size\""},
                  {"partition.alpha", alpha},
                  {"engine.workers", "2"}};
  for (const auto& [key, value] : more) run.settings[key] = value;
  run.deciding = deciding_settings(run.settings);
  return run;
}

std::vector<std::string> labels(const std::vector<RunLine>& lines) {
  std::vector<std::string> labels;
  for (const RunLine& line : lines) labels.push_back(line.label);
  return labels;
}

TEST(RunGrid, GroupsAreLabelledByWhatDiffers) {
  const std::vector<CountedRun> runs = {a_run("fedavg", "0.1", 1), a_run("fedavg", "1.0", 1),
                                        a_run("fedavg", "0.1", 2, {{"engine.workers", "5"}}),
                                        a_run("fedvg", "0.1", 1)};
  const RunGrid grid = grid_of_groups(runs);
  EXPECT_THAT(labels(grid.rows),
              ElementsAre("fedavg partition.alpha=0.1", "fedavg partition.alpha=1.0",
                          "fedvg partition.alpha=0.1"));
  EXPECT_THAT(grid.cells[0][0], ElementsAre(&runs[0], &runs[2]));
}

TEST(RunGrid, PartsOfAMethodAreToldWhereItsNameIsNotEnough) {
  const std::vector<CountedRun> runs = {
      a_run("fedavg", "0.1", 1),
      a_run("fedavg", "0.1", 1, {{"method.weighting.name", "\"uniform\""}})};
  EXPECT_THAT(labels(grid_of_groups(runs).rows),
              ElementsAre("fedavg method.weighting.name=\"size\"",
                          "fedavg method.weighting.name=\"uniform\""));
}

TEST(RunGrid, RowsAndColumnsAreSettings) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "10.0", 1), a_run("fedavg", "10.0", 1),
                                        a_run("fedavg", "0.1", 1), a_run("fedvg", "2.0", 1),
                                        a_run("fedvg", "2.0", 2)};
  const RunGrid grid = grid_of_settings(runs, {"method"}, {"partition.alpha"});
  EXPECT_THAT(labels(grid.rows), ElementsAre("fedvg", "fedavg"));        // as they appear
  EXPECT_THAT(labels(grid.columns), ElementsAre("0.1", "2.0", "10.0"));  // as numbers
  EXPECT_THAT(grid.cells[0][0], IsEmpty());
  EXPECT_THAT(grid.cells[0][1], ElementsAre(&runs[3], &runs[4]));
  EXPECT_THAT(grid.cells[1][2], ElementsAre(&runs[1]));
  EXPECT_EQ(grid.cell_name(0, 1), "fedvg × 2.0");
}

TEST(RunGrid, SeveralSettingsMakeARow) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "10.0", 1), a_run("fedvg", "2.0", 1),
                                        a_run("fedavg", "2.0", 1)};
  const RunGrid grid = grid_of_settings(runs, {"method.name", "partition.alpha"}, {});
  EXPECT_THAT(labels(grid.rows),
              ElementsAre("fedvg partition.alpha=2.0", "fedvg partition.alpha=10.0",
                          "fedavg partition.alpha=2.0"));
  EXPECT_THAT(grid.rows[1].values, ElementsAre("fedvg", "10.0"));
  EXPECT_EQ(grid.cell_name(1, 0), "fedvg partition.alpha=10.0");
}

TEST(RunGrid, ASettingThatCannotChangeResultsMayBeARow) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "0.1", 1),
                                        a_run("fedvg", "0.1", 1, {{"engine.workers", "16"}})};
  EXPECT_THAT(labels(grid_of_settings(runs, {"engine.workers"}, {}).rows), ElementsAre("2", "16"));
}

TEST(RunGrid, ASettingThatSomeLackIsUnset) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "0.1", 1),
                                        a_run("fedvg", "0.1", 1, {{"corruption.kind", "\"x\""}})};
  EXPECT_THAT(labels(grid_of_settings(runs, {"corruption.kind"}, {}).rows),
              ElementsAre("unset", "x"));
}

TEST(RunGrid, WhatWouldBeAveragedOverIsRefusedByName) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "0.1", 1),
                                        a_run("fedvg", "0.1", 2, {{"train.epochs", "5"}}),
                                        a_run("fedvg", "1.0", 2), a_run("fedvg", "1.0", 3)};
  EXPECT_THAT(
      message_of<OptionError>([&] { grid_of_settings(runs, {"method"}, {"partition.alpha"}); }),
      HasSubstr("the runs of fedvg × 0.1 differ in more than the seed: train.epochs "
                "(unset, 5); name what is meant under --rows or --columns"));
  EXPECT_THAT(message_of<OptionError>([&] { grid_of_settings(runs, {"method"}, {}); }),
              HasSubstr("partition.alpha (0.1, 1.0), train.epochs (unset, 5)"));
}

TEST(RunGrid, AnUnknownSettingIsRefusedWithCandidates) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "0.1", 1)};
  EXPECT_THAT(
      message_of<OptionError>([&] { grid_of_settings(runs, {"method"}, {"partition.alhpa"}); }),
      ::testing::AllOf(HasSubstr("--columns: unknown setting 'partition.alhpa'"),
                       HasSubstr("did you mean 'partition.alpha'?")));
}

TEST(RunGrid, ASeedCountsOnceInACell) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "0.1", 1), a_run("fedvg", "0.1", 1),
                                        a_run("fedavg", "0.1", 1)};
  RunGrid grid = grid_of_settings(runs, {"method"}, {});
  std::vector<std::string> notes;
  drop_repeated_seeds(grid, notes);
  EXPECT_THAT(grid.cells[0][0], ElementsAre(&runs[0]));
  EXPECT_THAT(grid.cells[1][0], ElementsAre(&runs[2]));
  EXPECT_THAT(notes, ElementsAre("fedvg-0.1-1 is left out: another run has its settings and its "
                                 "seed, 1: fedvg-0.1-1"));
}

std::vector<std::string> dropped_beside(const Settings& more) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "0.1", 1), a_run("fedvg", "0.1", 1, more)};
  RunGrid grid = grid_of_groups(runs);
  EXPECT_EQ(grid.rows.size(), 1U);
  std::vector<std::string> notes;
  drop_repeated_seeds(grid, notes);
  return notes;
}

TEST(RunGrid, WhatIsLeftOutIsSaidWithTheOptionsInWhichItDiffers) {
  EXPECT_THAT(dropped_beside({{"engine.kernels", "\"aten\""}, {"engine.workers", "5"}}),
              ElementsAre(EndsWith(": fedvg-0.1-1; they differ in engine.kernels (unset, aten), "
                                   "engine.workers (2, 5), which changes results by rounding")));
  EXPECT_THAT(dropped_beside({{"engine.workers", "5"}}),
              ElementsAre(EndsWith(": fedvg-0.1-1; they differ in engine.workers (2, 5)")));
}

TEST(RunGrid, MissingSeedsAreNamed) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "0.1", 1), a_run("fedvg", "0.1", 2),
                                        a_run("fedavg", "0.1", 2), a_run("fedvg", "1.0", 1),
                                        a_run("fedvg", "1.0", 2)};
  const RunGrid grid = grid_of_settings(runs, {"method"}, {"partition.alpha"});
  EXPECT_THAT(grid_notes(grid, {"method"}, {"partition.alpha"}),
              ElementsAre("results are missing: fedavg × 0.1 (seed 1); "
                          "fedavg × 1.0 (every seed)"));
}

TEST(RunGrid, FurtherDifferencesBetweenCellsAreNamed) {
  const std::vector<CountedRun> runs = {a_run("fedvg", "0.1", 1),
                                        a_run("fedavg", "0.1", 1, {{"train.epochs", "5"}})};
  const std::vector<std::string> rows = {"method"};
  EXPECT_THAT(grid_notes(grid_of_settings(runs, rows, {}), rows, {}),
              ElementsAre("beside rows and columns the cells differ in train.epochs (unset, 5)"));
}

// The weighting is a method's own, unless a method has two.
TEST(RunGrid, PartsThatFollowTheMethodAreExpected) {
  std::vector<CountedRun> runs = {a_run("fedvg", "0.1", 1), a_run("fedavg", "0.1", 1),
                                  a_run("fedvg", "1.0", 1), a_run("fedavg", "1.0", 1)};
  const std::vector<std::string> rows = {"method"}, columns = {"partition.alpha"};
  EXPECT_THAT(grid_notes(grid_of_settings(runs, rows, columns), rows, columns), IsEmpty());
  runs[3] = a_run("fedavg", "1.0", 1, {{"method.weighting.name", "\"uniform\""}});
  EXPECT_THAT(grid_notes(grid_of_settings(runs, rows, columns), rows, columns),
              ElementsAre(HasSubstr("method.weighting.name (fedvg, size, uniform)")));
}

}  // namespace
}  // namespace fedvg
