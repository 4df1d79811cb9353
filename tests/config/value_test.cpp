#include "fedvg/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fedvg/options.h"

namespace fedvg {

// Shortest digits that read back: 0.1 needs one, 0.1 + 0.2 all seventeen.
TEST(ValueText, WritesNumbersShortestAndStillAsNumbers) {
  EXPECT_EQ(Value(1.0).text(), "1.0");
  EXPECT_EQ(Value(-0.0).text(), "-0.0");
  EXPECT_EQ(Value(0.1).text(), "0.1");
  EXPECT_EQ(Value(0.1 + 0.2).text(), "0.30000000000000004");
  EXPECT_EQ(Value(1e-8).text(), "1e-08");
  EXPECT_EQ(Value(1e300).text(), "1e+300");
  EXPECT_EQ(Value(std::numeric_limits<double>::infinity()).text(), "inf");
  EXPECT_EQ(Value(-std::numeric_limits<double>::infinity()).text(), "-inf");
  EXPECT_EQ(Value(-std::nan("")).text(), "nan");
}

TEST(ValueText, WritesWhatTomlKnowsOnOneLine) {
  EXPECT_EQ(Value(true).text(), "true");
  EXPECT_EQ(Value(-3).text(), "-3");
  EXPECT_EQ(Value("a\"b\\c\n\t\x01\x7f é").text(), R"("a\"b\\c\n\t\u0001\u007F é")");
  EXPECT_EQ(Value(Array{1, 2.5, "x"}).text(), R"([1, 2.5, "x"])");
  EXPECT_EQ(Value(Table{{"name", "sgd"}, {"a b", Table{}}, {"", Array{}}}).text(),
            R"({name = "sgd", "a b" = {}, "" = []})");
}

TEST(Table, KeepsTheOrderAndReplacesInPlace) {
  Table table{{"b", 1}, {"a", 2}};
  table.set("b", 3);
  table.set("c", 4);
  EXPECT_EQ(Value(table).text(), "{b = 3, a = 2, c = 4}");
  EXPECT_TRUE(table.erase("a"));
  EXPECT_FALSE(table.erase("a"));
  EXPECT_EQ(table.find("a"), nullptr);
}

TEST(Table, EqualityLooksAtContentOnly) {
  Value sourced = 1;
  sourced.source = {"a.toml", 3};
  EXPECT_EQ((Table{{"a", sourced}, {"b", 2}}), (Table{{"b", 2}, {"a", 1}}));
  EXPECT_FALSE((Table{{"a", 1}}) == (Table{{"a", 1.0}}));
  EXPECT_FALSE((Table{{"a", 1}}) == (Table{{"b", 1}}));
  EXPECT_FALSE((Table{{"a", 1}}) == (Table{{"a", 1}, {"b", 1}}));
}

TEST(Bounds, SayWhatTheyAllow) {
  EXPECT_EQ(at_least(0).text(), ">= 0");
  EXPECT_EQ(above(0.5).text(), "> 0.5");
  EXPECT_EQ(above_up_to(0, 1).text(), "in (0, 1]");
  EXPECT_EQ(from_below(0, 1).text(), "in [0, 1)");
  EXPECT_EQ((Bounds{.high = 3}).text(), "<= 3");
  EXPECT_EQ(Bounds{}.text(), "");
}

TEST(Bounds, ContainTheirEndsUnlessOpen) {
  EXPECT_TRUE(at_least(0).contains(0));
  EXPECT_FALSE(above(0).contains(0));
  EXPECT_TRUE(above_up_to(0, 1).contains(1));
  EXPECT_FALSE(from_below(0, 1).contains(1));
  EXPECT_FALSE(between(0, 1).contains(1.5));
}

TEST(Bounds, NeverContainNanAndInfinityOnlyWhenAsked) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(Bounds{}.contains(std::nan("")));
  EXPECT_FALSE(at_least(0).contains(infinity));
  EXPECT_TRUE((Bounds{.low = 0, .finite = false}).contains(infinity));
  EXPECT_FALSE((Bounds{.low = 0, .finite = false}).contains(-infinity));
}

}  // namespace fedvg
