#include "data/augmentation.h"

#include <map>
#include <set>
#include <utility>

#include "data/testing.h"

namespace fedvg {
namespace {

DataOptions options(std::vector<std::string> kinds, std::int64_t padding = 4) {
  DataOptions data;
  data.augment = std::move(kinds);
  data.augment_padding = padding;
  return data;
}

TEST(Augmentation, IsOffUnlessAskedFor) {
  EXPECT_FALSE(augmentation_of({}).any());
  EXPECT_EQ(augmentation_text(augmentation_of({})), "");
  EXPECT_EQ(augmentation_text(augmentation_of(options({"crop", "flip"}, 2))),
            "flip, crop (padding 2)");
  EXPECT_EQ(augmentation_text(augmentation_of(options({"crop"}))), "crop (padding 4)");
  EXPECT_EQ(augmentation_text(augmentation_of(options({"flip"}))), "flip");
}

TEST(Augmentation, RefusesWhatWouldDoNothing) {
  EXPECT_TRUE(wrong_settings(options({})).empty());
  EXPECT_TRUE(wrong_settings(options({"flip", "crop"}, 2)).empty());
  const auto padding = wrong_settings(options({"flip"}, 2));
  ASSERT_EQ(padding.size(), 1u);
  EXPECT_EQ(padding[0].key, "data.augment_padding");
  const auto twice = wrong_settings(options({"flip", "crop", "flip"}));
  ASSERT_EQ(twice.size(), 1u);
  EXPECT_EQ(twice[0].key, "data.augment");
  EXPECT_NE(twice[0].reason.find("\"flip\""), std::string::npos);
}

TEST(Augmentation, RefusesFeaturesAndFramesThatHideTheImage) {
  Samples images{.channels = 1, .height = 6, .width = 4};
  check_augmentation({.flips = true, .padding = 3}, images);
  const auto wide =
      testing::message_of<OptionError>([&] { check_augmentation({.padding = 4}, images); });
  EXPECT_NE(wide.find("6 x 4"), std::string::npos) << wide;
  EXPECT_NE(wide.find("at most 3"), std::string::npos) << wide;
  Samples features{.channels = 30, .height = 1, .width = 1, .is_features = true};
  check_augmentation({}, features);
  const auto of_features =
      testing::message_of<OptionError>([&] { check_augmentation({.flips = true}, features); });
  EXPECT_NE(of_features.find("30 features"), std::string::npos) << of_features;
}

// Each image takes down, right, mirrored from the stream, in this order.
TEST(DrawViews, AreDrawnImageByImage) {
  Random stream(3, "augment", 2, 5), recorded(3, "augment", 2, 5);
  const auto views = draw_views(4, {.flips = true, .padding = 2}, stream);
  for (const ImageView& view : views) {
    EXPECT_EQ(view.down, static_cast<std::int64_t>(recorded.below(5)) - 2);
    EXPECT_EQ(view.right, static_cast<std::int64_t>(recorded.below(5)) - 2);
    EXPECT_EQ(view.mirrored, recorded.below(2) == 1);
  }
}

TEST(DrawViews, TakeEveryPlaceAboutEquallyOften) {
  Random random(1, "augment", 1, 0);
  const auto views = draw_views(9000, {.flips = true, .padding = 1}, random);
  std::map<std::pair<std::int64_t, std::int64_t>, int> places;
  int mirrored = 0;
  for (const ImageView& view : views) {
    ++places[{view.down, view.right}];
    mirrored += view.mirrored;
  }
  EXPECT_EQ(places.size(), 9u);
  for (const auto& [place, count] : places) EXPECT_NEAR(count, 1000, 150);
  EXPECT_NEAR(mirrored, 4500, 240);
}

TEST(DrawViews, OfOneKindLeaveTheOtherAlone) {
  Random random(1, "augment", 1, 0);
  for (const ImageView& view : draw_views(50, {.flips = true}, random)) {
    EXPECT_EQ(view.down, 0);
    EXPECT_EQ(view.right, 0);
  }
  std::set<bool> mirrored;
  for (const ImageView& view : draw_views(50, {.padding = 1}, random)) {
    mirrored.insert(view.mirrored);
  }
  EXPECT_EQ(mirrored, std::set<bool>{false});
}

}  // namespace
}  // namespace fedvg
