#pragma once

// ReLU and 2x2 max-pool in one pass: read x once, write a quarter of it and a byte for each
// number written, the place of the maximum in its window. The backward needs only the bytes, and
// writes every element of the gradient once, without filling it with zeros first.
//
// libtorch writes and reads the map behind the ReLU, keeps it and 8 bytes for each index, and goes
// over the large map twice more in the backward. Registers hold channels, float by float beside
// an index of the same width: left to vectorise a loop of floats and bytes, the compiler mixes
// the widths and needs five times as long.

#include "kernels/loops/bytes.h"

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

struct Maximum {
  Vec value;
  IntVec index;  ///< 0..3, kDead
};

/// Of ReLU of the four pixels of a window: the first of equal ones and the last NaN, as libtorch
/// chooses. A window without a positive number is 0 and dead.
inline Maximum maximum(const Vec (&pixel)[4]) {
  Maximum best{Vec{}, broadcast_int(kDead)};
  FEDVG_UNROLL(4) for (int p = 0; p < 4; ++p) {
    const IntVec taken = (pixel[p] > best.value) | (pixel[p] != pixel[p]);
    best.value = taken ? pixel[p] : best.value;
    best.index = taken ? broadcast_int(p) : best.index;
  }
  return best;
}

/// For each window: work(offset of its first pixel in x, offset in the pooled map), in floats.
template <class Work>
inline void for_each_window(const PoolShape& s, const Work& work) {
  const std::int64_t row = s.width * s.channels;
  std::int64_t pooled = 0;
  for (std::int64_t image = 0; image < s.images; ++image) {
    for (std::int64_t i = 0; i < s.out_height(); ++i) {
      std::int64_t pixel = (image * s.height + 2 * i) * row;
      for (std::int64_t j = 0; j < s.out_width(); ++j) {
        work(pixel, pooled);
        pixel += 2 * s.channels;
        pooled += s.channels;
      }
    }
  }
}

/// Offsets of the four pixels of a window from its first.
struct Window {
  explicit Window(const PoolShape& s)
      : pixel{0, s.channels, s.width * s.channels, (s.width + 1) * s.channels} {}
  std::int64_t pixel[4];
};

template <bool kKeep>
inline void relu_max_pool_of(const PoolShape& s, const float* x, float* y, std::uint8_t* index) {
  const Window window(s);
  const std::int64_t whole = s.channels / kLanes * kLanes, rest = s.channels - whole;
  for_each_window(s, [&](std::int64_t pixel, std::int64_t pooled) {
    Vec v[4];
    for (std::int64_t c = 0; c < whole; c += kLanes) {
      FEDVG_UNROLL(4) for (int p = 0; p < 4; ++p) v[p] = load(x + pixel + window.pixel[p] + c);
      const Maximum best = maximum(v);
      store(y + pooled + c, best.value);
      if constexpr (kKeep) store_bytes(index + pooled + c, best.index);
    }
    if (rest == 0) return;
    FEDVG_UNROLL(4) for (int p = 0; p < 4; ++p) {
      v[p] = load_first(x + pixel + window.pixel[p] + whole, rest);
    }
    const Maximum best = maximum(v);
    store_first(y + pooled + whole, best.value, rest);
    if constexpr (kKeep) store_first_bytes(index + pooled + whole, best.index, rest);
  });
}

inline void relu_max_pool(const PoolShape& s, const float* x, float* y, std::uint8_t* index) {
  if (index) {
    relu_max_pool_of<true>(s, x, y, index);
  } else {
    relu_max_pool_of<false>(s, x, y, index);
  }
}

/// The last row and column of maps of odd size belong to no window.
inline void clear_rim(const PoolShape& s, float* gx) {
  const std::int64_t row = s.width * s.channels;
  for (std::int64_t image = 0; image < s.images; ++image) {
    float* map = gx + image * s.height * row;
    if (s.width % 2 != 0) {
      for (std::int64_t i = 0; i < s.height; ++i) {
        fill(map + (i + 1) * row - s.channels, s.channels, 0);
      }
    }
    if (s.height % 2 != 0) fill(map + (s.height - 1) * row, row, 0);
  }
}

inline void relu_max_pool_gradient(const PoolShape& s, const float* g, const std::uint8_t* index,
                                   float* gx) {
  const Window window(s);
  const std::int64_t whole = s.channels / kLanes * kLanes, rest = s.channels - whole;
  for_each_window(s, [&](std::int64_t pixel, std::int64_t pooled) {
    for (std::int64_t c = 0; c < whole; c += kLanes) {
      const Vec value = load(g + pooled + c);
      const IntVec place = load_bytes(index + pooled + c);
      FEDVG_UNROLL(4) for (int p = 0; p < 4; ++p) {
        store(gx + pixel + window.pixel[p] + c, place == broadcast_int(p) ? value : Vec{});
      }
    }
    if (rest == 0) return;
    const Vec value = load_first(g + pooled + whole, rest);
    const IntVec place = load_first_bytes(index + pooled + whole, rest);
    FEDVG_UNROLL(4) for (int p = 0; p < 4; ++p) {
      store_first(gx + pixel + window.pixel[p] + whole, place == broadcast_int(p) ? value : Vec{},
                  rest);
    }
  });
  clear_rim(s, gx);
}

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
