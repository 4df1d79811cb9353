#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "run/comparison/comparison_table.h"
#include "run/comparison/made_up_comparison.h"

namespace fedvg {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ComparisonLatex, IsATabularWithBooktabs) {
  Comparison comparison = tested(two_by_two());
  comparison.rows[1].test->p = 5.96e-8;
  comparison.rows[1].test->test.effect = -0.5;
  EXPECT_THAT(
      comparison_latex(comparison),
      EndsWith("\\begin{tabular}{lrrrrrr}\n"
               "\\toprule\n"
               " & \\multicolumn{2}{c}{partition.alpha} \\\\\n"
               "\\cmidrule(lr){2-3}\n"
               "method & 0.1 & 1.0 & n & p & p (Holm) & effect \\\\\n"
               "\\midrule\n"
               "fedavg & \\underline{0.4800 $\\pm$ 0.0200} & \\underline{0.4700 $\\pm$ "
               "0.0100} &  & baseline &  &  \\\\\n"
               "fedvg & \\textbf{0.5300 $\\pm$ 0.0300} & \\textbf{0.5000 $\\pm$ 0.0200} & 5 "
               "& $5.96 \\times 10^{-8}$ & 0.125 & $-0.500$ \\\\\n"
               "\\bottomrule\n"
               "\\end{tabular}\n"));
}

TEST(ComparisonLatex, BeginsWithItsCaptionAsAComment) {
  const std::string text = comparison_latex(tested(three_methods()));
  EXPECT_THAT(text,
              StartsWith("% needs \\usepackage{booktabs}\n% test_accuracy of the last round"));
  EXPECT_THAT(text, HasSubstr("\n% p: Wilcoxon signed-rank test of final test_accuracy against"));
  EXPECT_THAT(text, HasSubstr("\n% n = 5 allows no p below 0.0625"));
  std::istringstream lines(text.substr(0, text.find("\\begin")));
  for (std::string line; std::getline(lines, line);) EXPECT_THAT(line, StartsWith("% "));
}

TEST(ComparisonLatex, EscapesWhatLatexWouldTakeForItsOwn) {
  Comparison comparison = three_methods("test_loss");
  comparison.rows[0].label = "a_b&c%d#e$f{g}h~i^j\\k<l>m|n";
  comparison.rows[1].cells[0] = {};
  const std::string text = comparison_latex(comparison);
  EXPECT_THAT(text, HasSubstr("a\\_b\\&c\\%d\\#e\\$f\\{g\\}h\\textasciitilde{}i\\textasciicircum{}"
                              "j\\textbackslash{}k$<$l$>$m$|$n & 2 &"));
  EXPECT_THAT(text, HasSubstr("final test\\_loss"));
  EXPECT_THAT(text, HasSubstr("fedvg & 0 & -- &"));
}

}  // namespace
}  // namespace fedvg
