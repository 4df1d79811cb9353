#pragma once

#include <cstdint>
#include <vector>

#include "fedvg/model.h"
#include "models/layers.h"

// On small images some taps of a kernel meet nothing but padding, wherever the kernel is put: of
// a 3x3 kernel with padding 1 on 1x1 maps all but the one in the middle. Their gradient is always
// 0, so that a network may do without them.

namespace fedvg {

/// One dimension of a kernel: taps [first, first + count), put on maps with `padding` at both
/// ends, give what the whole kernel gives.
struct TapRange {
  std::int64_t first, count, padding;
};

/// Pixels of an output; 0 where the kernel is larger than the padded map.
std::int64_t output_extent(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                           std::int64_t padding);

/// All taps that meet a pixel, and those between them, where the same padding at both ends lets
/// them do alone; else the whole kernel.
TapRange live_range(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                    std::int64_t padding);

/// Goes through a network from the images on, layer by layer in the order of its maps, and crops
/// what it passes.
class LiveTapsWalk {
 public:
  /// `parameters` of the network outlive it.
  LiveTapsWalk(const std::vector<NamedTensor>& parameters, const ModelInput& input)
      : parameters_(parameters), height_(input.height), width_(input.width) {}

  /// Crops the convolution to its live taps, where both dimensions then have one padding.
  void pass(Conv2d& convolution);
  void pool(std::int64_t kernel, std::int64_t stride, std::int64_t padding);

  /// While it lives, layers beside the others are passed; then the walk goes on from where it was.
  class Branch {
   public:
    explicit Branch(LiveTapsWalk& walk) : walk_(walk), height_(walk.height_), width_(walk.width_) {}
    ~Branch() {
      walk_.height_ = height_;
      walk_.width_ = width_;
    }
    Branch(const Branch&) = delete;
    Branch& operator=(const Branch&) = delete;

   private:
    LiveTapsWalk& walk_;
    std::int64_t height_, width_;
  };

  /// In the order in which they were passed.
  const std::vector<LiveTaps>& cropped() const { return cropped_; }

 private:
  const std::vector<NamedTensor>& parameters_;
  std::int64_t height_, width_;  ///< of the maps that come next
  std::vector<LiveTaps> cropped_;
};

}  // namespace fedvg
