#include "run/comparison/comparison_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/comparison/made_up_comparison.h"

namespace fedvg {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(ComparisonSheet, OfALossTheSmallestIsBest) {
  for (const char* metric : {"test_loss", "seconds"}) {
    EXPECT_THAT(sheet_of(three_methods(metric)).columns[2].ranks,
                ElementsAre(Rank::best, Rank::other, Rank::second));
  }
  EXPECT_THAT(sheet_of(three_methods()).columns[2].ranks,
              ElementsAre(Rank::other, Rank::best, Rank::second));
}

TEST(ComparisonSheet, WhatIsNoMeritIsNotRanked) {
  EXPECT_THAT(sheet_of(three_methods("weight_max")).columns[2].ranks, Each(Rank::other));
}

TEST(ComparisonSheet, MeansThatAreShownAlikeShareTheirRank) {
  Comparison comparison = three_methods();
  comparison.rows[0].cells[0] = seed_results(2, 0.53001, 0.01);
  EXPECT_THAT(sheet_of(comparison).columns[2].ranks,
              ElementsAre(Rank::best, Rank::best, Rank::second));
  for (ComparedRow& row : comparison.rows) row.cells[0] = seed_results(1, 0.5);
  EXPECT_THAT(sheet_of(comparison).columns[2].ranks, Each(Rank::best));
}

TEST(ComparisonSheet, OneCellAloneIsComparedWithNothing) {
  Comparison comparison = two_by_two();
  comparison.rows[0].cells[1] = {};
  const Sheet sheet = sheet_of(comparison);
  EXPECT_THAT(sheet.columns[2].ranks, Each(Rank::other));
  EXPECT_THAT(sheet.columns[2].cells, ElementsAre("–", "0.5000 ± 0.0200"));
}

TEST(ComparisonSheet, SeedsAreInBracketsWhereTheyDiffer) {
  Comparison comparison = two_by_two();
  comparison.rows[0].cells[1] = seed_results(1, 0.4);
  EXPECT_THAT(sheet_of(comparison).columns[2].cells,
              ElementsAre("0.4000 (1)", "0.5000 ± 0.0200 (2)"));
}

TEST(ComparisonSheet, CellsWithRunsThatNeverGotThereSaySoAndAreNotRanked) {
  Comparison comparison = three_methods("rounds-to:0.8");
  comparison.columns.resize(1);
  comparison.rows[0].cells = {never_results(5, 2, 50)};
  comparison.rows[1].cells = {never_results(5, 5, 50)};
  comparison.rows[2].cells = {seed_results(5, 20.25, 1.5)};
  const Sheet sheet = sheet_of(comparison);
  EXPECT_EQ(sheet.columns[2].title, "rounds to test_accuracy 0.8");
  EXPECT_THAT(sheet.columns[2].cells, ElementsAre("12.5, 2 of 5 > 50", "> 50", "20.2 ± 1.5"));
  EXPECT_THAT(sheet.columns[2].ranks, Each(Rank::other));
}

TEST(ComparisonSheet, BytesHaveOneUnitAndTheFewestAreBest) {
  Comparison comparison = three_methods("bytes");
  comparison.columns.resize(1);
  comparison.rows[0].cells = {seed_results(2, 2.5e9, 1e7)};
  comparison.rows[1].cells = {seed_results(2, 5e8, 0)};
  comparison.rows[2].cells = {seed_results(2, 7.5e8, 0)};
  const Sheet sheet = sheet_of(comparison);
  EXPECT_EQ(sheet.columns[2].title, "bytes (GB)");
  EXPECT_THAT(sheet.columns[2].cells, ElementsAre("2.50 ± 0.01", "0.50 ± 0.00", "0.75 ± 0.00"));
  EXPECT_THAT(sheet.columns[2].ranks, ElementsAre(Rank::other, Rank::best, Rank::second));
}

TEST(ComparisonSheet, TheTitleSaysAtWhichRound) {
  Comparison comparison = three_methods();
  comparison.options.at = "last:5";
  EXPECT_EQ(figure_title(comparison, {.values = {}, .at = parse_at("last:5")}),
            "test_accuracy, mean of last 5");
  comparison.criterion = "val_loss";
  EXPECT_EQ(figure_title(comparison, {.values = {}, .at = parse_at("best")}),
            "test_accuracy at best val_loss");
}

TEST(ComparisonSheet, SmallPsHaveAnExponent) {
  EXPECT_EQ(p_text(0.0625), "0.0625");
  EXPECT_EQ(p_text(1), "1");
  EXPECT_EQ(p_text(5.9604644775390625e-08), "5.96e-08");
}

}  // namespace
}  // namespace fedvg
