#include "data/wording.h"

#include <gtest/gtest.h>

namespace fedvg {
namespace {

TEST(Wording, CountsThings) {
  EXPECT_EQ(counted(1, "client"), "1 client");
  EXPECT_EQ(counted(0, "client"), "0 clients");
  EXPECT_EQ(counted(12, "client"), "12 clients");
}

TEST(Wording, NamesSomeAndCountsTheOthers) {
  EXPECT_EQ(some_of({}), "");
  EXPECT_EQ(some_of({"a", "b"}), "a, b");
  EXPECT_EQ(some_of({"a", "b", "c"}, 3), "a, b, c");
  EXPECT_EQ(some_of({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

}  // namespace
}  // namespace fedvg
