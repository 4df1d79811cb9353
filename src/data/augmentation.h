#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/data_options.h"
#include "data/wrong_setting.h"
#include "fedvg/dataset.h"
#include "fedvg/random.h"

namespace fedvg {

/// What local training does to each image anew whenever it sees it.
struct Augmentation {
  bool flips = false;        ///< mirrored left to right with probability 1/2
  std::int64_t padding = 0;  ///< crop out of the image within a black frame so wide; 0: none

  bool any() const { return flips || padding > 0; }
};

Augmentation augmentation_of(const DataOptions& options);

/// A kind named twice, a padding that no crop uses.
std::vector<WrongSetting> wrong_settings(const DataOptions& options);

/// Throws OptionError for features, and for a frame that leaves nothing of an image in view.
void check_augmentation(const Augmentation& augmentation, const Samples& samples);

/// "flip, crop (padding 4)"; empty for none.
std::string augmentation_text(const Augmentation& augmentation);

/// How an image is looked at: pixel (y, x) of the crop is pixel (y + down, x + right) of the
/// image, black outside of it; then the crop is mirrored.
struct ImageView {
  std::int64_t down = 0, right = 0;
  bool mirrored = false;

  bool operator==(const ImageView&) const = default;
};

/// One for each of `count` images; for each are drawn down and right, uniform in
/// [-padding, padding], then whether it is mirrored.
std::vector<ImageView> draw_views(std::size_t count, const Augmentation& augmentation,
                                  Random& random);

}  // namespace fedvg
