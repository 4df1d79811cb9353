#pragma once

// The first layer in one pass: convolution of images without padding, bias, ReLU and 2x2
// max-pool. A tile holds the four outputs of one or two windows for a panel of channels in
// registers until their maximum is known: only the pooled map and a byte for each of its numbers
// are written, a quarter and a sixteenth of what the convolution alone would write.
//
// The backward never makes the gradient of that large map, three quarters of which are zeros. The
// pooled gradient is split by its bytes into the four pixels' shares in registers, each of which
// meets its own pixels of the image. As many taps as there are registers are summed at a time,
// so that the split is done once for all of them: 25 with AVX-512, a whole 5x5 kernel.
//
// Images have few channels, and libtorch's convolutions multiply by zeros or rearrange to fill
// registers with them. Here registers hold output channels; numbers of the image are broadcast,
// and the columns of a kernel row with all their channels are one run in memory.

#include "kernels/loops/convolution.h"
#include "kernels/loops/relu_max_pool.h"

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

constexpr int kWindows = FEDVG_LANES == 16 ? 2 : 1;  ///< of a tile, at most
constexpr int kTapRows = FEDVG_LANES == 16 ? 5 : 2;  ///< of a tile of the gradient, at most
constexpr int kTapRun = 5;

inline PoolShape pool_of(const ConvolutionShape& s) {
  return {s.images, s.out_height(), s.out_width(), s.out};
}

/// Where the tap of each output of a window is, in floats from the first one's.
struct WindowTaps {
  explicit WindowTaps(const ConvolutionShape& s)
      : pixel{0, s.in, s.width * s.in, (s.width + 1) * s.in} {}
  std::int64_t pixel[4];
};

/// Windows side by side from x on, into y and index (null: not kept), where the next window is
/// `out` floats on. panel: as pack_transposed fills it, kernel row after kernel row.
template <int kCount, int kVecs>
inline void pooled_tile(const ConvolutionShape& s, const float* x, const float* panel,
                        const float* bias, float* y, std::uint8_t* index) {
  const std::int64_t row = s.width * s.in, depth = s.kernel_w * s.in;
  const WindowTaps window(s);
  Vec sum[4 * kCount][kVecs];
  const float* from[4 * kCount];
  FEDVG_UNROLL(8) for (int m = 0; m < 4 * kCount; ++m) {
    from[m] = x + m / 4 * 2 * s.in + window.pixel[m % 4];
    FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) {
      sum[m][v] = bias ? load(bias + v * kLanes) : Vec{};
    }
  }
  for (std::int64_t ky = 0; ky < s.kernel_h; ++ky) {
    for (std::int64_t k = ky * row; k < ky * row + depth; ++k, panel += kPanel) {
      Vec w[kVecs];
      FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) w[v] = load(panel + v * kLanes);
      FEDVG_UNROLL(8) for (int m = 0; m < 4 * kCount; ++m) {
        const Vec factor = broadcast(from[m][k]);
        FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) sum[m][v] += factor * w[v];
      }
    }
  }
  FEDVG_UNROLL(2) for (int n = 0; n < kCount; ++n) {
    FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) {
      const Maximum best =
          maximum({sum[4 * n][v], sum[4 * n + 1][v], sum[4 * n + 2][v], sum[4 * n + 3][v]});
      store(y + n * s.out + v * kLanes, best.value);
      if (index) store_bytes(index + n * s.out + v * kLanes, best.index);
    }
  }
}

/// A row of windows for the kVecs registers of channels of a panel.
template <int kVecs>
inline void pooled_row(const ConvolutionShape& s, const float* x, const float* panel,
                       const float* bias, float* y, std::uint8_t* index) {
  const std::int64_t windows = s.out_width() / 2;
  std::int64_t j = 0;
  for (; j + kWindows <= windows; j += kWindows) {
    pooled_tile<kWindows, kVecs>(s, x + j * 2 * s.in, panel, bias, y + j * s.out,
                                 index ? index + j * s.out : nullptr);
  }
  for (; j < windows; ++j) {
    pooled_tile<1, kVecs>(s, x + j * 2 * s.in, panel, bias, y + j * s.out,
                          index ? index + j * s.out : nullptr);
  }
}

inline void convolution_relu_pool(const ConvolutionShape& s, const float* x, const float* w,
                                  const float* bias, float* y, std::uint8_t* index,
                                  float* scratch) {
  const PoolShape pool = pool_of(s);
  const std::int64_t size = s.filter() * kPanel, row = s.width * s.in;
  for (std::int64_t c = 0; c < s.out; c += kPanel) {
    pack_transposed(w + c * s.filter(), s.filter(), s.filter(), least(kPanel, s.out - c),
                    scratch + c / kPanel * size);
  }
  for (std::int64_t image = 0; image < s.images; ++image) {
    for (std::int64_t i = 0; i < pool.out_height(); ++i) {
      const float* from = x + (image * s.height + 2 * i) * row;
      const std::int64_t to = (image * pool.out_height() + i) * pool.out_width() * s.out;
      for (std::int64_t c = 0; c < s.out; c += kPanel) {
        const float* panel = scratch + c / kPanel * size;
        const float* add = bias ? bias + c : nullptr;
        std::uint8_t* place = index ? index + to + c : nullptr;
        if (s.out - c > kLanes) {
          pooled_row<2>(s, from, panel, add, y + to + c, place);
        } else {
          pooled_row<1>(s, from, panel, add, y + to + c, place);
        }
      }
    }
  }
}

/// From the compiler, which would otherwise keep an offset for each of a hundred taps, and sums
/// in memory to make room for them.
inline void hide(const float*& pointer) { asm("" : "+r"(pointer)); }

/// sums [kRows taps' rows, kRun taps, out] of one register of channels += their gradient by one
/// image. x is where the first tap of the image's first window is.
template <int kRows, int kRun>
inline void tap_gradient(const ConvolutionShape& s, const float* x, const float* g,
                         const std::uint8_t* index, float* sums) {
  const PoolShape pool = pool_of(s);
  const std::int64_t row = s.width * s.in, depth = s.kernel_w * s.in;
  const WindowTaps window(s);
  Vec sum[kRows][kRun];
  FEDVG_UNROLL(8) for (int r = 0; r < kRows; ++r) {
    FEDVG_UNROLL(8) for (int t = 0; t < kRun; ++t) sum[r][t] = Vec{};
  }
  for (std::int64_t i = 0; i < pool.out_height(); ++i) {
    const float* from = x + 2 * i * row;
    for (std::int64_t j = 0; j < pool.out_width(); ++j, from += 2 * s.in) {
      const Vec value = load(g);
      const IntVec place = load_bytes(index);
      FEDVG_UNROLL(1) for (int p = 0; p < 4; ++p) {
        const Vec share = place == broadcast_int(p) ? value : Vec{};
        const float* tap = from + window.pixel[p];
        FEDVG_UNROLL(8) for (int r = 0; r < kRows; ++r, tap += row) {
          hide(tap);
          FEDVG_UNROLL(8) for (int t = 0; t < kRun; ++t) sum[r][t] += broadcast(tap[t]) * share;
        }
      }
      g += s.out;
      index += s.out;
    }
  }
  FEDVG_UNROLL(8) for (int r = 0; r < kRows; ++r) {
    FEDVG_UNROLL(8) for (int t = 0; t < kRun; ++t) {
      float* to = sums + (r * depth + t) * s.out;
      store(to, sum[r][t] + load(to));
    }
  }
}

using TapGradient = void (*)(const ConvolutionShape&, const float*, const float*,
                             const std::uint8_t*, float*);

#define FEDVG_RUNS(rows)                                                                        \
  {                                                                                             \
    tap_gradient<rows, 1>, tap_gradient<rows, 2>, tap_gradient<rows, 3>, tap_gradient<rows, 4>, \
        tap_gradient<rows, kTapRun>                                                             \
  }
constexpr TapGradient kTapGradients[kTapRows][kTapRun] = {
    FEDVG_RUNS(1), FEDVG_RUNS(2),
#if FEDVG_LANES == 16
    FEDVG_RUNS(3), FEDVG_RUNS(4), FEDVG_RUNS(kTapRows),
#endif
};
#undef FEDVG_RUNS

/// gb [out] = the sums of what is not dead; image by image, as the weights' sums.
inline void living_sums(const PoolShape& s, const float* g, const std::uint8_t* index, float* gb) {
  const std::int64_t windows = s.out_height() * s.out_width();
  fill(gb, s.channels, 0);
  for (std::int64_t image = 0; image < s.images; ++image) {
    for (std::int64_t c = 0; c < s.channels; c += kLanes) {
      Vec sum{};
      for (std::int64_t n = image * windows; n < (image + 1) * windows; ++n) {
        const IntVec place = load_bytes(index + n * s.channels + c);
        sum += place == broadcast_int(kDead) ? Vec{} : load(g + n * s.channels + c);
      }
      store(gb + c, sum + load(gb + c));
    }
  }
}

/// Calls work(begin, size) for parts of `length` of about one size, at most `most`.
template <class Work>
inline void in_parts(std::int64_t length, std::int64_t most, const Work& work) {
  std::int64_t parts = (length + most - 1) / most;
  for (std::int64_t begin = 0; parts > 0; --parts) {
    const std::int64_t size = (length - begin + parts - 1) / parts;
    work(begin, size);
    begin += size;
  }
}

inline void convolution_relu_pool_gradient(const ConvolutionShape& s, const float* x,
                                           const float* g, const std::uint8_t* index, float* gw,
                                           float* gb, float* scratch) {
  const PoolShape pool = pool_of(s);
  if (gb) living_sums(pool, g, index, gb);
  if (!gw) return;
  const std::int64_t depth = s.kernel_w * s.in, row = s.width * s.in;
  const std::int64_t pooled = pool.out_height() * pool.out_width() * s.out;
  fill(scratch, s.filter() * s.out, 0);
  for (std::int64_t image = 0; image < s.images; ++image) {
    const float* from = x + image * s.height * row;
    for (std::int64_t c = 0; c < s.out; c += kLanes) {
      const std::int64_t to = image * pooled + c;
      in_parts(s.kernel_h, kTapRows, [&](std::int64_t ky, std::int64_t rows) {
        in_parts(depth, kTapRun, [&](std::int64_t t, std::int64_t run) {
          kTapGradients[rows - 1][run - 1](s, from + ky * row + t, g + to, index + to,
                                           scratch + (ky * depth + t) * s.out + c);
        });
      });
    }
  }
  for (std::int64_t o = 0; o < s.out; ++o) {
    for (std::int64_t k = 0; k < s.filter(); ++k) gw[o * s.filter() + k] = scratch[k * s.out + o];
  }
}

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
