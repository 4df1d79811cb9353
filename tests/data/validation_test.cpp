#include "data/validation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/testing.h"
#include "fedvg/random.h"

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
  const std::string means =
      ": its balanced accuracy, macro F1 and macro AUROC are means over the others";
  EXPECT_EQ(missing_classes({45}, labels(), labels(), names),
            "D_val has no sample of class 0 (cat), 2 (dog)" + means);
  EXPECT_EQ(missing_classes({0, 60}, labels(), labels(), names),
            "D_val has no sample of class 1" + means);
  EXPECT_EQ(missing_classes({0, 45, 60}, labels(), labels(), names), "");
  // Another set's labels beside the training set's.
  const std::vector<std::int64_t> own = {2, 2, 0};
  EXPECT_EQ(missing_classes({0, 1}, own, labels(), names),
            "D_val has no sample of class 0 (cat), 1" + means);
}

// Half of 14 are 7; 1 + 1/2 + 1/4 = 7/4: 4, 2 and 1 samples.
TEST(Validation, ImbalanceHalvesFromClassToClass) {
  IndexList pool = {0, 1, 2, 3, 4, 5, 40, 41, 42, 43, 60, 61, 62, 63};
  const auto left = [&](double rho) {
    return imbalanced({.imbalance = rho}, pool, labels(), 3, 1);
  };
  EXPECT_EQ(class_sizes(left(0.5)), (std::vector<std::int64_t>{4, 2, 1}));
  EXPECT_EQ(left(0), pool);
  // 7 / 3 of each, rounded down.
  EXPECT_EQ(class_sizes(left(1)), (std::vector<std::int64_t>{2, 2, 2}));
  const IndexList some = left(0.5);
  EXPECT_TRUE(std::includes(pool.begin(), pool.end(), some.begin(), some.end()));
  EXPECT_EQ(imbalanced({.imbalance = 0.5}, pool, labels(), 3, 1), some);
  EXPECT_NE(imbalanced({.imbalance = 0.5}, pool, labels(), 3, 2), some);
}

// Half of 6 are 3: one of each class, in the pool's order.
TEST(Validation, ImbalanceKeepsThePoolsOrder) {
  const IndexList pool = {60, 0, 61, 40, 41, 1};
  const auto left = imbalanced({.imbalance = 1}, pool, labels(), 3, 1);
  EXPECT_EQ(class_sizes(left), (std::vector<std::int64_t>{1, 1, 1}));
  const auto place = [&](std::int64_t i) { return std::ranges::find(pool, i) - pool.begin(); };
  EXPECT_TRUE(std::ranges::is_sorted(left, {}, place));
}

// 64 / 2 = 32, and 32 / 1.11 * (1, 0.1, 0.01) = 28.8, 2.9, 0.3.
TEST(Validation, ImbalanceTakesAtMostWhatAClassHas) {
  IndexList pool(64);
  std::iota(pool.begin(), pool.end(), std::int64_t{0});
  EXPECT_EQ(class_sizes(imbalanced({.imbalance = 0.1}, pool, labels(), 3, 1)),
            (std::vector<std::int64_t>{28, 2, 0}));
  // A balanced half would be 10 of each.
  EXPECT_EQ(class_sizes(imbalanced({.imbalance = 1}, pool, labels(), 3, 1)),
            (std::vector<std::int64_t>{10, 10, 4}));
}

TEST(Validation, ImbalanceMayLeaveNothing) {
  EXPECT_TRUE(imbalanced({.imbalance = 1}, {0, 40, 60}, labels(), 3, 1).empty());
}

// Two images of 2 x 2 bytes.
Samples two_images() {
  return {.channels = 1,
          .height = 2,
          .width = 2,
          .pixels = {100, 100, 100, 100, 0, 255, 128, 7},
          .labels = {1, 0},
          .owners = {},
          .is_features = false};
}

// byte + 255 * 0.1 * z with z from the image's own stream.
TEST(Validation, NoiseIsAddedToACopy) {
  const Samples noisy = noisy_copy({.noise = 0.1}, two_images(), {1, 0}, 3);
  EXPECT_EQ(noisy.labels, (std::vector<std::int64_t>{0, 1}));
  ASSERT_EQ(noisy.pixels.size(), 8u);
  Random random(3, "validation-noise", 0, 1);
  for (std::size_t i = 0; i < 4; ++i) {
    const double wanted = std::round(two_images().pixels[4 + i] + 25.5 * random.normal());
    EXPECT_EQ(noisy.pixels[i], std::min(std::max(wanted, 0.0), 255.0));
  }
  // An image's noise does not depend on which others there are.
  const Samples alone = noisy_copy({.noise = 0.1}, two_images(), {0}, 3);
  EXPECT_TRUE(std::ranges::equal(alone.image(0), noisy.image(1)));
}

}  // namespace
}  // namespace fedvg
