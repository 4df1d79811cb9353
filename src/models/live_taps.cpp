#include "models/live_taps.h"

#include <algorithm>

namespace fedvg {

std::int64_t output_extent(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                           std::int64_t padding) {
  const std::int64_t room = extent + 2 * padding - kernel;
  return room < 0 ? 0 : room / stride + 1;
}

TapRange live_range(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                    std::int64_t padding) {
  const std::int64_t outputs = output_extent(extent, kernel, stride, padding);
  std::int64_t first = kernel, end = 0;
  for (std::int64_t o = 0; o < outputs; ++o) {
    const std::int64_t pixel = padding - o * stride;  // the tap that meets the first one
    const std::int64_t begin = std::max<std::int64_t>(pixel, 0);
    const std::int64_t behind = std::min(pixel + extent, kernel);
    if (begin >= behind) continue;
    first = std::min(first, begin);
    end = std::max(end, behind);
  }
  const TapRange whole{0, kernel, padding}, live{first, end - first, padding - first};
  const bool fits = live.count > 0 && live.padding >= 0 &&
                    output_extent(extent, live.count, stride, live.padding) == outputs;
  return fits ? live : whole;
}

void LiveTapsWalk::pass(Conv2d& convolution) {
  at::Tensor& weight = convolution.weight;
  const std::int64_t stride = convolution.stride, padding = convolution.padding;
  const TapRange rows = live_range(height_, weight.size(2), stride, padding);
  const TapRange columns = live_range(width_, weight.size(3), stride, padding);
  height_ = output_extent(height_, weight.size(2), stride, padding);
  width_ = output_extent(width_, weight.size(3), stride, padding);
  const bool all = rows.count == weight.size(2) && columns.count == weight.size(3);
  if (all || rows.padding != columns.padding) return;
  const auto own =
      std::find_if(parameters_.begin(), parameters_.end(),
                   [&](const NamedTensor& entry) { return entry.tensor.is_same(weight); });
  cropped_.push_back({static_cast<std::size_t>(own - parameters_.begin()), rows.first,
                      columns.first, rows.count, columns.count});
  weight.set_data(weight.detach()
                      .narrow(2, rows.first, rows.count)
                      .narrow(3, columns.first, columns.count)
                      .clone(at::MemoryFormat::Contiguous));
  convolution.padding = rows.padding;
}

void LiveTapsWalk::pool(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  height_ = output_extent(height_, kernel, stride, padding);
  width_ = output_extent(width_, kernel, stride, padding);
}

}  // namespace fedvg
