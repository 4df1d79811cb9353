#pragma once

// The convolution as a sum of small products, one for each tap of the kernel, over only those
// outputs whose tap meets a pixel: padding costs nothing, and taps that never meet a pixel are
// skipped, with a gradient of exactly 0. On a 2x2 map a 3x3 kernel needs 16 products of 36.
//
// The rows of a product are the pixels of one image row where these fill a tile (width 8 and
// up), and the images of the batch on smaller maps, whose rows would be too short. Weights are
// packed into panels first, so that the innermost loop reads them in order. Without padding the
// taps of one kernel row lie side by side in the image and become one product of their joint
// depth. libtorch's convolutions reorder images or weights on every call, which costs more than
// the multiplication on maps this small; from 32x32 on theirs are faster.

#include "kernels/loops/small_product.h"

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

struct Range {
  std::int64_t begin, end;
  bool empty() const { return begin >= end; }
  std::int64_t size() const { return end - begin; }
};

/// Outputs whose tap `tap` meets one of `in` pixels.
inline Range live(std::int64_t tap, std::int64_t in, std::int64_t out, std::int64_t stride,
                  std::int64_t padding) {
  Range range{0, out};
  while (range.begin < out && range.begin * stride + tap < padding) ++range.begin;
  while (range.end > range.begin && (range.end - 1) * stride + tap - padding >= in) --range.end;
  return range;
}

/// The products that a convolution is a sum of: one for each tap, or for each kernel row.
struct Taps {
  explicit Taps(const ConvolutionShape& s, bool may_join)
      : shape(s),
        joined(may_join && s.padding == 0 && by_rows(s)),
        count(joined ? s.kernel_h : s.taps()),
        depth(joined ? s.kernel_w * s.in : s.in) {}

  static bool by_rows(const ConvolutionShape& s) { return s.out_width() >= 8; }

  std::int64_t row(std::int64_t tap) const { return joined ? tap : tap / shape.kernel_w; }
  std::int64_t column(std::int64_t tap) const { return joined ? 0 : tap % shape.kernel_w; }
  Range rows(std::int64_t tap) const {
    return live(row(tap), shape.height, shape.out_height(), shape.stride, shape.padding);
  }
  Range columns(std::int64_t tap) const {
    return joined ? Range{0, shape.out_width()}
                  : live(column(tap), shape.width, shape.out_width(), shape.stride, shape.padding);
  }
  /// Of the pixel that output (oy, ox) meets, in floats from the start of its image.
  std::int64_t pixel(std::int64_t tap, std::int64_t oy, std::int64_t ox) const {
    return ((oy * shape.stride + row(tap) - shape.padding) * shape.width + ox * shape.stride +
            column(tap) - shape.padding) *
           shape.in;
  }

  const ConvolutionShape& shape;
  bool joined;
  std::int64_t count, depth;
};

/// panel [depth, kPanel]: panel[k][j] = from[j * stride + k].
inline void pack_transposed(const float* from, std::int64_t stride, std::int64_t depth,
                            std::int64_t width, float* panel) {
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t j = 0; j < width; ++j) panel[k * kPanel + j] = from[j * stride + k];
  }
}

/// panel[k][j] = from[k * stride + j].
inline void pack(const float* from, std::int64_t stride, std::int64_t depth, std::int64_t width,
                 float* panel) {
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t j = 0; j < width; ++j) panel[k * kPanel + j] = from[k * stride + j];
  }
}

inline std::int64_t panels(std::int64_t columns) { return (columns + kPanel - 1) / kPanel; }

/// Calls product(tap, panel, begin of its columns, their number) for each tap that is live and
/// each panel, when pack_panel(tap, begin, width, panel) has filled it.
template <class Pack, class Product>
inline void for_each_panel(const Taps& taps, std::int64_t columns, std::int64_t depth,
                           float* scratch, const Pack& pack_panel, const Product& product) {
  const ConvolutionShape& s = taps.shape;
  const std::int64_t number = panels(columns), size = depth * kPanel;
  const auto width = [&](std::int64_t n) { return least(kPanel, columns - n * kPanel); };
  if (!Taps::by_rows(s)) {
    for (std::int64_t tap = 0; tap < taps.count; ++tap) {
      if (taps.rows(tap).empty() || taps.columns(tap).empty()) continue;
      for (std::int64_t n = 0; n < number; ++n) {
        pack_panel(tap, n * kPanel, width(n), scratch);
        product(0, tap, scratch, n * kPanel, width(n));
      }
    }
    return;
  }
  for (std::int64_t tap = 0; tap < taps.count; ++tap) {
    for (std::int64_t n = 0; n < number; ++n) {
      pack_panel(tap, n * kPanel, width(n), scratch + (tap * number + n) * size);
    }
  }
  for (std::int64_t image = 0; image < s.images; ++image) {
    for (std::int64_t tap = 0; tap < taps.count; ++tap) {
      if (taps.rows(tap).empty() || taps.columns(tap).empty()) continue;
      for (std::int64_t n = 0; n < number; ++n) {
        product(image, tap, scratch + (tap * number + n) * size, n * kPanel, width(n));
      }
    }
  }
}

inline void convolution(const ConvolutionShape& s, const float* x, const float* w,
                        const float* bias, float* y, float* scratch) {
  const std::int64_t out_pixels = s.out_height() * s.out_width();
  for (std::int64_t i = 0; i < s.images * out_pixels; ++i) {
    float* to = y + i * s.out;
    if (bias) {
      for (std::int64_t c = 0; c < s.out; ++c) to[c] = bias[c];
    } else {
      fill(to, s.out, 0);
    }
  }
  const Taps taps(s, true);
  const std::int64_t image_in = s.height * s.width * s.in, image_out = out_pixels * s.out;
  for_each_panel(
      taps, s.out, taps.depth, scratch,
      [&](std::int64_t tap, std::int64_t begin, std::int64_t width, float* panel) {
        pack_transposed(w + begin * s.filter() + tap * taps.depth, s.filter(), taps.depth, width,
                        panel);
      },
      [&](std::int64_t image, std::int64_t tap, const float* panel, std::int64_t begin,
          std::int64_t width) {
        const Range rows = taps.rows(tap), columns = taps.columns(tap);
        for (std::int64_t oy = rows.begin; oy < rows.end; ++oy) {
          const auto out_at = [&](std::int64_t ox) {
            return (oy * s.out_width() + ox) * s.out + begin;
          };
          if (Taps::by_rows(s)) {
            add_product(columns.size(), x + image * image_in + taps.pixel(tap, oy, columns.begin),
                        s.stride * s.in, panel, y + image * image_out + out_at(columns.begin),
                        s.out, taps.depth, width);
            continue;
          }
          for (std::int64_t ox = columns.begin; ox < columns.end; ++ox) {
            add_product(s.images, x + taps.pixel(tap, oy, ox), image_in, panel, y + out_at(ox),
                        image_out, taps.depth, width);
          }
        }
      });
}

inline void convolution_input_gradient(const ConvolutionShape& s, const float* g, const float* w,
                                       float* gx, float* scratch) {
  fill(gx, s.images * s.height * s.width * s.in, 0);
  const Taps taps(s, false);
  const std::int64_t image_in = s.height * s.width * s.in;
  const std::int64_t image_out = s.out_height() * s.out_width() * s.out;
  for_each_panel(
      taps, s.in, s.out, scratch,
      [&](std::int64_t tap, std::int64_t begin, std::int64_t width, float* panel) {
        pack(w + tap * s.in + begin, s.filter(), s.out, width, panel);
      },
      [&](std::int64_t image, std::int64_t tap, const float* panel, std::int64_t begin,
          std::int64_t width) {
        const Range rows = taps.rows(tap), columns = taps.columns(tap);
        for (std::int64_t oy = rows.begin; oy < rows.end; ++oy) {
          const auto out_at = [&](std::int64_t ox) { return (oy * s.out_width() + ox) * s.out; };
          if (Taps::by_rows(s)) {
            add_product(columns.size(), g + image * image_out + out_at(columns.begin), s.out, panel,
                        gx + image * image_in + taps.pixel(tap, oy, columns.begin) + begin,
                        s.stride * s.in, s.out, width);
            continue;
          }
          for (std::int64_t ox = columns.begin; ox < columns.end; ++ox) {
            add_product(s.images, g + out_at(ox), image_out, panel,
                        gx + taps.pixel(tap, oy, ox) + begin, image_in, s.out, width);
          }
        }
      });
}

inline void convolution_weight_gradient(const ConvolutionShape& s, const float* x, const float* g,
                                        float* gw, float*) {
  const Taps taps(s, true);
  const std::int64_t image_in = s.height * s.width * s.in;
  const std::int64_t image_out = s.out_height() * s.out_width() * s.out;
  const bool by_rows = Taps::by_rows(s);
  const std::int64_t passes = by_rows ? s.images : 1;
  for (std::int64_t image = 0; image < passes; ++image) {
    for (std::int64_t tap = 0; tap < taps.count; ++tap) {
      float* to = gw + tap * taps.depth;
      const Range rows = taps.rows(tap), columns = taps.columns(tap);
      if (rows.empty() || columns.empty()) {
        if (image > 0) continue;
        for (std::int64_t o = 0; o < s.out; ++o) fill(to + o * s.filter(), taps.depth, 0);
        continue;
      }
      const float* a = g + image * image_out + (rows.begin * s.out_width() + columns.begin) * s.out;
      const float* b = x + image * image_in + taps.pixel(tap, rows.begin, columns.begin);
      const std::int64_t row_out = s.out_width() * s.out, row_in = s.stride * s.width * s.in;
      Runs runs{{rows.size(), columns.size(), s.images},
                {row_out, s.out, image_out},
                {row_in, s.stride * s.in, image_in}};
      if (by_rows)
        runs = {
            {1, rows.size(), columns.size()}, {0, row_out, s.out}, {0, row_in, s.stride * s.in}};
      outer_product(image > 0, runs, a, s.out, b, taps.depth, to, s.filter());
    }
  }
}

/// In blocks of rows, so that errors grow with the number of blocks and of rows in one, not
/// with their product.
inline void column_sums(const float* x, std::int64_t rows, std::int64_t columns, float* sums) {
  constexpr std::int64_t kBlock = 128;
  fill(sums, columns, 0);
  for (std::int64_t begin = 0; begin < rows; begin += kBlock) {
    const std::int64_t end = least(begin + kBlock, rows);
    for (std::int64_t c = 0; c < columns; c += kLanes) {
      const std::int64_t width = least(kLanes, columns - c);
      Vec sum{};
      for (std::int64_t i = begin; i < end; ++i) {
        const float* from = x + i * columns + c;
        sum += width == kLanes ? load(from) : load_first(from, width);
      }
      if (width == kLanes) {
        store(sums + c, sum + load(sums + c));
      } else {
        store_first(sums + c, sum + load_first(sums + c, width), width);
      }
    }
  }
}

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
