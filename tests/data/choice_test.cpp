#include "data/choice.h"

#include <gtest/gtest.h>

namespace fedvg {
namespace {

TEST(Choice, AllPositionsAndAllButSome) {
  EXPECT_EQ(all_positions(0), IndexList{});
  EXPECT_EQ(all_positions(3), (IndexList{0, 1, 2}));
  EXPECT_EQ(all_but(5, {0, 3}), (IndexList{1, 2, 4}));
  EXPECT_EQ(all_but(2, {}), (IndexList{0, 1}));
  EXPECT_EQ(all_but(2, {0, 1}), IndexList{});
}

// 0.29 * 100 is 28.999999999999996 in double.
TEST(Choice, SharesAreRoundedDownButNotByRounding) {
  EXPECT_EQ(share_of(0.29, 100), 29);
  EXPECT_EQ(share_of(0.1, 19), 1);
  EXPECT_EQ(share_of(0.1, 9), 0);
  EXPECT_EQ(share_of(1, 7), 7);
}

TEST(Choice, CopiesSamplesWithLabelsAndOwnersInTheGivenOrder) {
  const Samples samples{.channels = 1,
                        .height = 1,
                        .width = 2,
                        .pixels = {1, 2, 3, 4, 5, 6},
                        .labels = {7, 8, 9},
                        .owners = {"a", "b", "c"}};
  const Samples chosen = chosen_samples(samples, {2, 0});
  EXPECT_EQ(chosen.pixels, (std::vector<std::uint8_t>{5, 6, 1, 2}));
  EXPECT_EQ(chosen.labels, (std::vector<std::int64_t>{9, 7}));
  EXPECT_EQ(chosen.owners, (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(chosen.width, 2);
  EXPECT_FALSE(chosen.is_features);
}

TEST(Choice, CopiesRowsOfFeaturesWithoutOwners) {
  const Samples rows{.channels = 1,
                     .height = 1,
                     .width = 1,
                     .pixels = {0, 0, 128, 63, 0, 0, 0, 64},  // 1 and 2
                     .labels = {0, 1},
                     .is_features = true};
  const Samples chosen = chosen_samples(rows, {1});
  EXPECT_EQ(chosen.pixels, (std::vector<std::uint8_t>{0, 0, 0, 64}));
  EXPECT_TRUE(chosen.owners.empty());
  EXPECT_TRUE(chosen.is_features);
}

}  // namespace
}  // namespace fedvg
