#include "data/augmentation.h"

#include <algorithm>

namespace fedvg {
namespace {

bool names(const DataOptions& options, const std::string& kind) {
  return std::ranges::count(options.augment, kind) > 0;
}

}  // namespace

Augmentation augmentation_of(const DataOptions& options) {
  return {.flips = names(options, "flip"),
          .padding = names(options, "crop") ? options.augment_padding : 0};
}

std::vector<WrongSetting> wrong_settings(const DataOptions& options) {
  std::vector<WrongSetting> wrong;
  for (const std::string kind : {"flip", "crop"}) {
    if (std::ranges::count(options.augment, kind) > 1) {
      wrong.push_back({"data.augment", "\"" + kind + "\" stands there twice"});
    }
  }
  if (options.augment_padding != DataOptions{}.augment_padding && !names(options, "crop")) {
    wrong.push_back({"data.augment_padding",
                     "is of the crop, and data.augment has none; write augment = [\"crop\"]"});
  }
  return wrong;
}

void check_augmentation(const Augmentation& augmentation, const Samples& samples) {
  if (!augmentation.any()) return;
  if (samples.is_features) {
    throw OptionError("data.augment: " + augmentation_text(augmentation) +
                      " is of images, and the data are " + std::to_string(samples.channels) +
                      " features a sample; leave it out");
  }
  if (augmentation.padding >= std::min(samples.height, samples.width)) {
    throw OptionError("data.augment_padding: a frame of " + std::to_string(augmentation.padding) +
                      " pixels lets a crop miss images of " + std::to_string(samples.height) +
                      " x " + std::to_string(samples.width) + " altogether; write at most " +
                      std::to_string(std::min(samples.height, samples.width) - 1));
  }
}

std::string augmentation_text(const Augmentation& augmentation) {
  std::string text = augmentation.flips ? "flip" : "";
  if (augmentation.padding == 0) return text;
  return text + (text.empty() ? "" : ", ") + "crop (padding " +
         std::to_string(augmentation.padding) + ")";
}

std::vector<ImageView> draw_views(std::size_t count, const Augmentation& augmentation,
                                  Random& random) {
  const auto places = static_cast<std::uint64_t>(2 * augmentation.padding + 1);
  const auto shift = [&] {
    return static_cast<std::int64_t>(random.below(places)) - augmentation.padding;
  };
  std::vector<ImageView> views(count);
  for (ImageView& view : views) {
    if (augmentation.padding > 0) {
      view.down = shift();
      view.right = shift();
    }
    view.mirrored = augmentation.flips && random.below(2) == 1;
  }
  return views;
}

}  // namespace fedvg
