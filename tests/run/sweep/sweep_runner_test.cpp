// run_sweep() itself starts this program again: tests/apps/sweep_test.py.

#include "run/sweep/sweep_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/run_end.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

class SweepRunnerTest : public ::testing::Test {
 protected:
  SweepPlan plan(const std::string& text) {
    folder_.file("a.toml", "");
    return plan_sweep(read_sweep_file(folder_.file("s.toml", "base = \"a.toml\"\n" + text)), {});
  }

  TestFolder folder_;
};

TEST_F(SweepRunnerTest, EachRunWithHowFarItIs) {
  const SweepPlan plan = this->plan("seeds = [1, 2, 33]\n");
  folder_.file("out/s1/config.toml", plan.runs[0].config);
  folder_.file("out/s1/run.json", text_of(RunEnd{plan.runs[0].rounds, false}));
  folder_.file("out/s1/rounds.csv", "round\n");
  folder_.file("out/s1/model.safetensors", "");
  folder_.file("out/s2/config.toml", plan.runs[1].config);
  folder_.file("out/s2/rounds.csv", "round\n1\n2\n");
  EXPECT_THAT(sweep_lines(plan, folder_.path() / "out"),
              ElementsAre(MatchesRegex(".*/out/s1   finished       seed = 1"),
                          MatchesRegex(".*/out/s2   round 2 of 50  seed = 2"),
                          MatchesRegex(".*/out/s33  to do          seed = 33")));
}

TEST_F(SweepRunnerTest, WhatWouldBeRefusedIsShown) {
  const SweepPlan plan = this->plan("seeds = [1, 2]\n");
  folder_.file("out/s1/config.toml", plan.runs[1].config);
  folder_.file("out/s2", "mine");
  EXPECT_THAT(
      sweep_lines(plan, folder_.path() / "out"),
      ElementsAre(MatchesRegex(".*/out/s1  refused: another seed                     seed = 1"),
                  MatchesRegex(".*/out/s2  refused: cannot be created: not a folder  seed = 2")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out/s1/.lock"));
}

}  // namespace
}  // namespace fedvg
