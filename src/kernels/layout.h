#pragma once

#include <ATen/core/Tensor.h>

namespace fedvg::kernels {

/// Does a 4-d tensor lie densely with its second dimension innermost (images as NHWC, weights
/// as OHWI)? Strides of dimensions of size 1 count too: with one channel or on 1x1 maps
/// is_contiguous(ChannelsLast) says yes to other layouts.
inline bool is_channels_last(const at::Tensor& x) {
  const auto c = x.size(1), h = x.size(2), w = x.size(3);
  const auto strides = x.strides();
  return (c == 1 || strides[1] == 1) && (w == 1 || strides[3] == c) &&
         (h == 1 || strides[2] == w * c) && (x.size(0) == 1 || strides[0] == h * w * c);
}

/// float32 in a CPU's memory, 4-d, channels_last.
inline bool is_plain(const at::Tensor& x) {
  return x.dim() == 4 && x.scalar_type() == at::kFloat && x.is_cpu() &&
         x.layout() == at::kStrided && is_channels_last(x);
}

/// x itself, or a copy that is_plain.
at::Tensor plain(const at::Tensor& x);

/// Uninitialised, of that shape [N, C, H, W] and is_plain.
at::Tensor empty_plain(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w);

/// Floats for one call on this thread, aligned to 64 bytes; the next call may reuse them.
float* scratch(std::size_t floats);

}  // namespace fedvg::kernels
