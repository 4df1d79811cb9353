#include "data/validation.h"

#include <algorithm>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;

// 40 of class 0, then 20 of class 1, then 4 of class 2.
std::vector<std::int64_t> labels() {
  std::vector<std::int64_t> made(64, 0);
  std::fill(made.begin() + 40, made.end(), 1);
  std::fill(made.begin() + 60, made.end(), 2);
  return made;
}

std::vector<std::int64_t> class_sizes(const IndexList& list) {
  std::vector<std::int64_t> sizes(3, 0);
  for (const std::int64_t index : list) {
    ++sizes[static_cast<std::size_t>(labels()[static_cast<std::size_t>(index)])];
  }
  return sizes;
}

// round(0.25 * 64) = 16 as 10 + 5 + 1; round(0.1 * 64) = 6 of 3.75, 1.875, 0.375.
TEST(Validation, HoldsOutTheShareOfEveryClass) {
  EXPECT_EQ(class_sizes(held_out({.ratio = 0.25}, labels(), 3, 1)),
            (std::vector<std::int64_t>{10, 5, 1}));
  EXPECT_EQ(class_sizes(held_out({.ratio = 0.1}, labels(), 3, 1)),
            (std::vector<std::int64_t>{4, 2, 0}));
}

TEST(Validation, IsDrawnFromTheSeedAlone) {
  const IndexList first = held_out({.ratio = 0.25}, labels(), 3, 1);
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(held_out({.ratio = 0.25, .size = 5}, labels(), 3, 1), first);
  EXPECT_NE(held_out({.ratio = 0.25}, labels(), 3, 2), first);
}

TEST(Validation, MayBeNothingOfFewSamples) {
  const std::vector<std::int64_t> four(4, 0);
  EXPECT_TRUE(held_out({.ratio = 0.1}, four, 1, 1).empty());
}

// 16 as 10 + 5 + 1; 8 of them are 5, 2.5, 0.5: the first half goes to class 1.
TEST(Validation, SizeTakesAStratifiedSubset) {
  const IndexList pool = held_out({.ratio = 0.25}, labels(), 3, 1);
  const IndexList subset = limited({.size = 8}, pool, labels(), 3, 1);
  EXPECT_EQ(class_sizes(subset), (std::vector<std::int64_t>{5, 3, 0}));
  EXPECT_TRUE(std::includes(pool.begin(), pool.end(), subset.begin(), subset.end()));
  EXPECT_EQ(limited({.size = 0}, pool, labels(), 3, 1), pool);
  EXPECT_EQ(limited({.size = 16}, pool, labels(), 3, 1), pool);
}

TEST(Validation, RefusesASizeBeyondThePool) {
  const IndexList pool = held_out({.ratio = 0.25}, labels(), 3, 1);
  EXPECT_EQ(message_of<OptionError>([&] { limited({.size = 17}, pool, labels(), 3, 1); }),
            "validation.size = 17 is more than the 16 samples of D_val");
}

TEST(Validation, NamesTheClassesThatItLacks) {
  const std::vector<std::string> names = {"cat", "1", "dog", "never"};
  EXPECT_EQ(missing_classes({45}, labels(), names),
            "D_val has no sample of class 0 (cat), 2 (dog)");
  EXPECT_EQ(missing_classes({0, 60}, labels(), names), "D_val has no sample of class 1");
  EXPECT_EQ(missing_classes({0, 45, 60}, labels(), names), "");
}

}  // namespace
}  // namespace fedvg
