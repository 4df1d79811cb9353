#include "data/class_counts.h"

#include <gtest/gtest.h>

namespace fedvg {
namespace {

// Labels at 4, 0, 0 and 2 are 1, 2, 2 and 2.
TEST(ClassCounts, CountListedSamplesAsOftenAsListed) {
  const std::vector<std::int64_t> labels = {2, 0, 2, 0, 1};
  EXPECT_EQ(class_counts({4, 0, 0, 2}, labels, 4), (std::vector<std::int64_t>{0, 1, 3, 0}));
  EXPECT_EQ(class_counts({}, labels, 2), (std::vector<std::int64_t>{0, 0}));
}

TEST(ClassCounts, NumberClassesWithoutNames) {
  EXPECT_EQ(numbered_classes(std::vector<std::int64_t>{0, 2}),
            (std::vector<std::string>{"0", "1", "2"}));
}

}  // namespace
}  // namespace fedvg
