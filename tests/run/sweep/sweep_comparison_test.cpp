#include "run/sweep/sweep_comparison.h"

#include <gtest/gtest.h>

#include "run/testing.h"

namespace fedvg {
namespace {

class SweepComparisonTest : public ::testing::Test {
 protected:
  std::string command(const std::string& text) {
    folder_.file("a.toml", "[method]\nname = \"fedvg\"\n");
    const auto file = folder_.file("s.toml", "base = \"a.toml\"\nseeds = [1, 2]\n" + text);
    return compare_command(plan_sweep(read_sweep_file(file), {}), "out");
  }

  TestFolder folder_;
};

TEST_F(SweepComparisonTest, WhatVariesIsRowsAndColumns) {
  EXPECT_EQ(command(""), "fedvg compare out");
  EXPECT_EQ(command("[grid]\n\"partition.alpha\" = [0.1, 1]\n\"train.epochs\" = [3]\n"),
            "fedvg compare out --rows partition.alpha");
  EXPECT_EQ(command("[grid]\n\"partition.alpha\" = [0.1, 1]\n"
                    "\"method.name\" = [\"fedavg\", \"fedvg\"]\n"),
            "fedvg compare out --rows method --columns partition.alpha");
  EXPECT_EQ(command("[grid]\n\"partition.alpha\" = [0.1, 1]\n\"train.epochs\" = [3, 4]\n"
                    "\"method.name\" = [\"fedavg\", \"fedvg\"]\n"
                    "[zip]\n\"train.clip\" = [1, 2]\n\"train.batch_size\" = [8, 16]\n"),
            "fedvg compare out --rows method,train.epochs,train.clip --columns partition.alpha");
}

TEST_F(SweepComparisonTest, AKeyThatIsAPart) {
  EXPECT_EQ(command("[grid]\n\"method.weighting\" = [\"fedvg\", \"size\"]\n"),
            "fedvg compare out --rows method.weighting.name");
  EXPECT_EQ(command("[grid]\n\"partition.scheme\" = [\"dirichlet\", \"iid\"]\n"),
            "fedvg compare out --rows partition.scheme");
  EXPECT_EQ(command("[grid]\n\"method.weighting\" = [\"size\", {norm = \"l2\"}]\n"),
            "fedvg compare out");
}

}  // namespace
}  // namespace fedvg
