#include "run/sweep/sweep_progress.h"

#include <gtest/gtest.h>

#include "run/testing.h"

namespace fedvg {
namespace {

class SweepProgressTest : public ::testing::Test {
 protected:
  void rounds(const std::string& run, int count) {
    std::string text = "round\n";
    for (int i = 1; i <= count; ++i) text += std::to_string(i) + "\n";
    folder_.file(run + "/rounds.csv", text);
  }
  void add(const std::string& run, std::int64_t rounds) {
    progress_.add(run, folder_.path() / run, rounds);
  }

  TestFolder folder_;
  SweepProgress progress_;
};

TEST_F(SweepProgressTest, OnlyRoundsSinceTheStartCountForTheSpeed) {
  rounds("a", 4);
  add("a", 10);
  add("b", 10);
  EXPECT_EQ(progress_.total(), 20);
  EXPECT_EQ(progress_.done(), 4);
  EXPECT_FALSE(progress_.seconds_left(5).has_value());
  rounds("a", 6);
  rounds("b", 2);
  progress_.look("a");
  EXPECT_EQ(progress_.done(), 6);
  EXPECT_DOUBLE_EQ(*progress_.seconds_left(10), 10.0 / 2 * 14);
  progress_.look("b");
  EXPECT_DOUBLE_EQ(*progress_.seconds_left(10), 10.0 / 4 * 12);
}

TEST_F(SweepProgressTest, OfARunThatIsOverNothingIsLeft) {
  add("a", 10);
  add("b", 10);
  rounds("a", 5);  // stopped early, or failed
  progress_.close("a");
  EXPECT_EQ(progress_.done(), 10);
  EXPECT_DOUBLE_EQ(*progress_.seconds_left(10), 10.0 / 5 * 10);
}

TEST_F(SweepProgressTest, ARunThatIsTakenUpFurtherBackDoesNotCountBackwards) {
  rounds("a", 8);
  add("a", 10);
  rounds("a", 5);
  progress_.look("a");
  EXPECT_EQ(progress_.done(), 5);
  EXPECT_FALSE(progress_.seconds_left(1).has_value());
  rounds("a", 6);
  progress_.look("a");
  EXPECT_DOUBLE_EQ(*progress_.seconds_left(1), 4.0);
}

}  // namespace
}  // namespace fedvg
