#include "run/comparison/comparison_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/comparison/made_up_comparison.h"

namespace fedvg {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Marks marks() {
  return {[](const std::string& text) { return "<" + text + ">"; },
          [](const std::string& text) { return "(" + text + ")"; }};
}

TEST(ComparisonTable, MarksTheBestAndTheSecondOfEachColumn) {
  EXPECT_EQ(comparison_text(three_methods(), marks()),
            "method   seeds  final test_accuracy  mean of last 10\n"
            "fedavg   2      0.4800 ± 0.0200      0.4700 ± 0.0100\n"
            "fedvg    2      <0.5300 ± 0.0300>      (0.5000 ± 0.0200)\n"
            "fedprox  1      (0.5000)               <0.5100>\n");
}

TEST(ComparisonTable, AGridHasItsSettingAboveAndItsCaptionBelow) {
  EXPECT_THAT(comparison_text(two_by_two(), marks()),
              StartsWith("        partition.alpha\n"
                         "method  0.1              1.0\n"
                         "fedavg  (0.4800 ± 0.0200)  (0.4700 ± 0.0100)\n"
                         "fedvg   <0.5300 ± 0.0300>  <0.5000 ± 0.0200>\n"
                         "\n"
                         "test_accuracy of the last round: mean ± standard deviation"));
}

TEST(ComparisonTable, ATestIsPartOfItsRow) {
  const auto unmarked = [](const std::string& text) { return text; };
  EXPECT_THAT(
      comparison_text(tested(three_methods()), {unmarked, unmarked}),
      StartsWith(
          "method   seeds  final test_accuracy  mean of last 10  n  p         p (Holm)  effect\n"
          "fedavg   2      0.4800 ± 0.0200      0.4700 ± 0.0100     baseline\n"
          "fedvg    2      0.5300 ± 0.0300      0.5000 ± 0.0200  5  0.0625    0.125     1.000\n"
          "fedprox  1      0.5000               0.5100           0  –         –         –\n"
          "\n"));
}

TEST(ComparisonTable, MarkdownBoldsTheBestAndUnderlinesTheSecond) {
  EXPECT_EQ(comparison_markdown(three_methods()),
            "| method | seeds | final test_accuracy | mean of last 10 |\n"
            "| --- | ---: | ---: | ---: |\n"
            "| fedavg | 2 | 0.4800 ± 0.0200 | 0.4700 ± 0.0100 |\n"
            "| fedvg | 2 | **0.5300 ± 0.0300** | <u>0.5000 ± 0.0200</u> |\n"
            "| fedprox | 1 | <u>0.5000</u> | **0.5100** |\n");
}

TEST(ComparisonTable, MarkdownOfAGridNamesTheSettingInEachTitle) {
  const std::string text = comparison_markdown(tested(two_by_two()));
  EXPECT_THAT(text, StartsWith("| method | partition.alpha = 0.1 | partition.alpha = 1.0 | n | p | "
                               "p (Holm) | effect |\n"));
  EXPECT_THAT(text, HasSubstr("| 5 | 0.0625 | 0.125 | 1.000 |\n\ntest_accuracy of the last round"));
}

TEST(ComparisonTable, MarkdownEscapesBarsOfLabels) {
  Comparison comparison = three_methods();
  comparison.rows[0].label = "fedavg data.path=\"a|b\"";
  EXPECT_THAT(comparison_markdown(comparison), HasSubstr("| fedavg data.path=\"a\\|b\" |"));
}

}  // namespace
}  // namespace fedvg
