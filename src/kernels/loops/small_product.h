#pragma once

// Products of small matrices whose result stays in registers: what the convolution is made of.
// The result is a tile of kTileRows rows and one panel of columns; each step of the depth
// loads one row of the panel and multiplies it by one number for each row of the tile. The
// tile fills the registers: 8x2 of AVX-512's 32, 6x2 of AVX2's 16.

#include "kernels/loops/vector.h"

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

constexpr int kTileRows = FEDVG_LANES == 16 ? 8 : 6;
constexpr std::int64_t kPanel = 2 * kLanes;  ///< columns

inline Vec load_columns(const float* p, std::int64_t width, int v, int vecs) {
  return v == vecs - 1 && width < vecs * kLanes ? load_first(p + v * kLanes, width - v * kLanes)
                                                : load(p + v * kLanes);
}

inline void store_columns(float* p, Vec value, std::int64_t width, int v, int vecs) {
  if (v == vecs - 1 && width < vecs * kLanes) {
    store_first(p + v * kLanes, value, width - v * kLanes);
  } else {
    store(p + v * kLanes, value);
  }
}

/// c [kRows, width] += a [kRows, depth] * panel [depth, kPanel]; rows of a and c have their
/// strides, a row of a is dense. width <= kVecs registers.
template <int kRows, int kVecs>
inline void add_tile(const float* a, std::int64_t a_stride, const float* panel, float* c,
                     std::int64_t c_stride, std::int64_t depth, std::int64_t width) {
  Vec sum[kRows][kVecs];
  const float* row[kRows];
  FEDVG_UNROLL(16) for (int m = 0; m < kRows; ++m) {
    row[m] = a + m * a_stride;
    FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) sum[m][v] = Vec{};
  }
  for (std::int64_t k = 0; k < depth; ++k, panel += kPanel) {
    Vec b[kVecs];
    FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) b[v] = load(panel + v * kLanes);
    FEDVG_UNROLL(16) for (int m = 0; m < kRows; ++m) {
      const Vec factor = broadcast(row[m][k]);
      FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) sum[m][v] += factor * b[v];
    }
  }
  FEDVG_UNROLL(16) for (int m = 0; m < kRows; ++m) {
    float* to = c + m * c_stride;
    FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) {
      store_columns(to, sum[m][v] + load_columns(to, width, v, kVecs), width, v, kVecs);
    }
  }
}

template <int kVecs>
inline void add_rows(std::int64_t rows, const float* a, std::int64_t a_stride, const float* panel,
                     float* c, std::int64_t c_stride, std::int64_t depth, std::int64_t width) {
  switch (rows) {
#define FEDVG_ROWS(n) \
  case n:             \
    return add_tile<n, kVecs>(a, a_stride, panel, c, c_stride, depth, width);
    FEDVG_ROWS(1)
    FEDVG_ROWS(2)
    FEDVG_ROWS(3)
    FEDVG_ROWS(4)
    FEDVG_ROWS(5)
#undef FEDVG_ROWS
    default:
      if constexpr (kTileRows == 8) {
        if (rows == 6) return add_tile<6, kVecs>(a, a_stride, panel, c, c_stride, depth, width);
        if (rows == 7) return add_tile<7, kVecs>(a, a_stride, panel, c, c_stride, depth, width);
      }
      return add_tile<kTileRows, kVecs>(a, a_stride, panel, c, c_stride, depth, width);
  }
}

/// c [rows, width] += a [rows, depth] * panel [depth, kPanel], any number of rows, in tiles of
/// about one height: 10 rows as 5 + 5, since 8 + 2 would leave the second tile too few sums to
/// hide the latency of a multiply-add.
inline void add_product(std::int64_t rows, const float* a, std::int64_t a_stride,
                        const float* panel, float* c, std::int64_t c_stride, std::int64_t depth,
                        std::int64_t width) {
  std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  for (std::int64_t done = 0; tiles > 0; --tiles) {
    const std::int64_t height = (rows - done + tiles - 1) / tiles;
    if (width > kLanes) {
      add_rows<2>(height, a + done * a_stride, a_stride, panel, c + done * c_stride, c_stride,
                  depth, width);
    } else {
      add_rows<1>(height, a + done * a_stride, a_stride, panel, c + done * c_stride, c_stride,
                  depth, width);
    }
    done += height;
  }
}

/// Three nested loops over pairs of rows; of an index that does not run, the count is 1.
struct Runs {
  std::int64_t count[3];
  std::int64_t a_stride[3], b_stride[3];
};

/// c [kRows, width] = (add ? c : 0) + sum over the runs of a[kRows]^T * b[width].
template <int kRows, int kVecs>
inline void outer_tile(bool add, const Runs& runs, const float* a, const float* b, float* c,
                       std::int64_t c_stride, std::int64_t width) {
  Vec sum[kRows][kVecs];
  FEDVG_UNROLL(16) for (int m = 0; m < kRows; ++m) {
    FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) sum[m][v] = Vec{};
  }
  const bool whole = width == kVecs * kLanes;
  for (std::int64_t i = 0; i < runs.count[0]; ++i) {
    for (std::int64_t j = 0; j < runs.count[1]; ++j) {
      const float* from = a + i * runs.a_stride[0] + j * runs.a_stride[1];
      const float* with = b + i * runs.b_stride[0] + j * runs.b_stride[1];
      for (std::int64_t k = 0; k < runs.count[2];
           ++k, from += runs.a_stride[2], with += runs.b_stride[2]) {
        Vec right[kVecs];
        if (whole) {
          FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) right[v] = load(with + v * kLanes);
        } else {
          FEDVG_UNROLL(2)
          for (int v = 0; v < kVecs; ++v) right[v] = load_columns(with, width, v, kVecs);
        }
        FEDVG_UNROLL(16) for (int m = 0; m < kRows; ++m) {
          const Vec factor = broadcast(from[m]);
          FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) sum[m][v] += factor * right[v];
        }
      }
    }
  }
  FEDVG_UNROLL(16) for (int m = 0; m < kRows; ++m) {
    float* to = c + m * c_stride;
    FEDVG_UNROLL(2) for (int v = 0; v < kVecs; ++v) {
      const Vec before = add ? load_columns(to, width, v, kVecs) : Vec{};
      store_columns(to, sum[m][v] + before, width, v, kVecs);
    }
  }
}

/// The same for any number of rows and columns.
inline void outer_product(bool add, const Runs& runs, const float* a, std::int64_t rows,
                          const float* b, std::int64_t columns, float* c, std::int64_t c_stride) {
  for (std::int64_t n = 0; n < columns; n += kPanel) {
    const std::int64_t width = least(kPanel, columns - n);
    for (std::int64_t m = 0; m < rows;) {
      float* to = c + m * c_stride + n;
      if (rows - m >= kTileRows) {
        if (width > kLanes) {
          outer_tile<kTileRows, 2>(add, runs, a + m, b + n, to, c_stride, width);
        } else {
          outer_tile<kTileRows, 1>(add, runs, a + m, b + n, to, c_stride, width);
        }
        m += kTileRows;
      } else if (rows - m >= 4) {
        if (width > kLanes) {
          outer_tile<4, 2>(add, runs, a + m, b + n, to, c_stride, width);
        } else {
          outer_tile<4, 1>(add, runs, a + m, b + n, to, c_stride, width);
        }
        m += 4;
      } else {
        if (width > kLanes) {
          outer_tile<1, 2>(add, runs, a + m, b + n, to, c_stride, width);
        } else {
          outer_tile<1, 1>(add, runs, a + m, b + n, to, c_stride, width);
        }
        ++m;
      }
    }
  }
}

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
