// BatchNorm with the statistics of the batch, the residual added and the ReLU applied in the
// same pass. Rows are pixels, and one block of channels, four registers wide where there are
// that many, is taken at a time, with everything that belongs to a channel in registers.
//
// Forward reads x twice and writes y once. The first pass sums the deviations from a number near
// the mean and their squares: one pass gives mean and variance then, without the cancellation
// that sums of x itself would suffer. Sums are of 64 rows in float, of those in double. Backward
// reads once for the two sums that the gradients are made of, and leaves the gradient behind the
// ReLU in memory that the result overwrites in the second pass.
//
// libtorch reads x three times, y once more for the ReLU, and needs a pass and a tensor of its
// own for each of the ReLU's gradient and the sum with the residual; for statistics by groups of
// images it needs copies of all parts on top. Here a group is a run of rows.

#include "kernels/loops/vector.h"

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

constexpr int kBlockVecs = 4;          ///< channels of a block, in registers
constexpr std::int64_t kRunRows = 64;  ///< summed in float

template <int kVecs>
struct Registers {
  Vec v[kVecs];

  static Registers of(const float* p) {
    Registers r;
    FEDVG_UNROLL(4) for (int v = 0; v < kVecs; ++v) r.v[v] = load(p + v * kLanes);
    return r;
  }
};

/// Two sums a channel over some rows: term(row, v, a, b) adds a row's share to two registers.
template <int kVecs, class Term>
inline void sum_rows(std::int64_t rows, double* first, double* second, const Term& term) {
  constexpr std::int64_t kWidth = kVecs * kLanes;
  for (std::int64_t c = 0; c < kWidth; ++c) first[c] = second[c] = 0;
  for (std::int64_t begin = 0; begin < rows; begin += kRunRows) {
    const std::int64_t end = least(rows, begin + kRunRows);
    Vec a[kVecs], b[kVecs];
    FEDVG_UNROLL(4) for (int v = 0; v < kVecs; ++v) a[v] = b[v] = Vec{};
    for (std::int64_t row = begin; row < end; ++row) {
      FEDVG_UNROLL(4) for (int v = 0; v < kVecs; ++v) term(row, v, a[v], b[v]);
    }
    float sums[2][kWidth];
    FEDVG_UNROLL(4) for (int v = 0; v < kVecs; ++v) {
      store(sums[0] + v * kLanes, a[v]);
      store(sums[1] + v * kLanes, b[v]);
    }
    for (std::int64_t c = 0; c < kWidth; ++c) {
      first[c] += static_cast<double>(sums[0][c]);
      second[c] += static_cast<double>(sums[1][c]);
    }
  }
}

/// The mean of up to 8 rows, evenly spread: a number near each channel's mean.
template <int kVecs>
inline Registers<kVecs> near_mean(const float* x, std::int64_t rows, std::int64_t channels) {
  const std::int64_t taken = least(rows, 8);
  Registers<kVecs> near;
  FEDVG_UNROLL(4) for (int v = 0; v < kVecs; ++v) {
    Vec sum{};
    for (std::int64_t i = 0; i < taken; ++i) {
      sum += load(x + i * rows / taken * channels + v * kLanes);
    }
    near.v[v] = sum * broadcast(1 / static_cast<float>(taken));
  }
  return near;
}

/// Of a group and a block of channels: mean [width] and variance [width], the biased one.
template <int kVecs>
inline void moments(const float* x, std::int64_t rows, std::int64_t channels, double* mean,
                    double* variance) {
  constexpr std::int64_t kWidth = kVecs * kLanes;
  const Registers<kVecs> near = near_mean<kVecs>(x, rows, channels);
  sum_rows<kVecs>(rows, mean, variance, [&](std::int64_t row, int v, Vec& a, Vec& b) {
    const Vec deviation = load(x + row * channels + v * kLanes) - near.v[v];
    a += deviation;
    b += deviation * deviation;
  });
  float shift[kWidth];
  FEDVG_UNROLL(4) for (int v = 0; v < kVecs; ++v) store(shift + v * kLanes, near.v[v]);
  const double share = 1 / static_cast<double>(rows);
  for (std::int64_t c = 0; c < kWidth; ++c) {
    const double from_shift = mean[c] * share;
    const double var = variance[c] * share - from_shift * from_shift;
    mean[c] = static_cast<double>(shift[c]) + from_shift;
    variance[c] = var < 0 ? 0 : var;  // NaN stays
  }
}

/// y = ReLU((x - mean) * scale + bias + residual); NaN passes the ReLU.
template <int kVecs, bool kRelu, bool kResidual>
inline void normalize(std::int64_t rows, std::int64_t channels, const float* x,
                      const float* residual, const float* mean, const float* scale,
                      const float* bias, float* y) {
  const auto m = Registers<kVecs>::of(mean), s = Registers<kVecs>::of(scale),
             b = Registers<kVecs>::of(bias);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row * channels;
    FEDVG_UNROLL(4) for (int v = 0; v < kVecs; ++v) {
      const std::int64_t i = at + v * kLanes;
      Vec value = (load(x + i) - m.v[v]) * s.v[v] + b.v[v];
      if constexpr (kResidual) value += load(residual + i);
      if constexpr (kRelu) value = value <= Vec{} ? Vec{} : value;
      store(y + i, value);
    }
  }
}

template <int kVecs>
inline void batch_norm_block(const BatchNormShape& s, const BatchNormForward& f, std::int64_t c0) {
  constexpr std::int64_t kWidth = kVecs * kLanes;
  double mean[kWidth], variance[kWidth];
  float scale[kWidth];
  for (std::int64_t group = 0; group < s.groups(); ++group) {
    const std::int64_t rows = s.rows_of(group), begin = group * s.group * s.channels + c0;
    moments<kVecs>(f.x + begin, rows, s.channels, mean, variance);
    float* to_mean = f.mean + group * s.channels + c0;
    float* to_inverse = f.inverse_deviation + group * s.channels + c0;
    for (std::int64_t c = 0; c < kWidth; ++c) {
      const double inverse = 1 / __builtin_sqrt(variance[c] + f.eps);
      to_mean[c] = static_cast<float>(mean[c]);
      to_inverse[c] = static_cast<float>(inverse);
      scale[c] = static_cast<float>(inverse * static_cast<double>(f.weight[c0 + c]));
    }
    if (f.running_mean) {
      const double unbiased = static_cast<double>(rows) / static_cast<double>(rows - 1);
      const auto move = [&](float& running, double value) {
        running = static_cast<float>(f.momentum * value +
                                     (1 - f.momentum) * static_cast<double>(running));
      };
      for (std::int64_t c = 0; c < kWidth; ++c) {
        move(f.running_mean[c0 + c], mean[c]);
        move(f.running_var[c0 + c], variance[c] * unbiased);
      }
    }
    const auto apply = [&](auto* loop) {
      loop(rows, s.channels, f.x + begin, f.residual ? f.residual + begin : nullptr, to_mean, scale,
           f.bias + c0, f.y + begin);
    };
    if (f.residual) {
      apply(f.relu ? normalize<kVecs, true, true> : normalize<kVecs, false, true>);
    } else {
      apply(f.relu ? normalize<kVecs, true, false> : normalize<kVecs, false, false>);
    }
  }
}

/// First pass of the backward: the sums over a group of g' and of g' * (x - mean), g' being the
/// gradient behind the ReLU, which is written to `masked` unless that is null.
template <int kVecs, bool kRelu>
inline void gradient_sums(std::int64_t rows, std::int64_t channels, const float* x, const float* y,
                          const float* g, const float* mean, float* masked, double* sum,
                          double* product) {
  const auto m = Registers<kVecs>::of(mean);
  sum_rows<kVecs>(rows, sum, product, [&](std::int64_t row, int v, Vec& a, Vec& b) {
    const std::int64_t i = row * channels + v * kLanes;
    Vec gradient = load(g + i);
    if constexpr (kRelu) {
      gradient = load(y + i) <= Vec{} ? Vec{} : gradient;  // passes where y is NaN
      if (masked) store(masked + i, gradient);
    }
    a += gradient;
    b += gradient * (load(x + i) - m.v[v]);
  });
}

/// Second pass: gx = scale * g' + slope * (x - mean) + offset. g and gx may be the same.
template <int kVecs>
inline void input_gradient(std::int64_t rows, std::int64_t channels, const float* x, const float* g,
                           const float* mean, const float* scale, const float* slope,
                           const float* offset, float* gx) {
  const auto m = Registers<kVecs>::of(mean), a = Registers<kVecs>::of(scale),
             b = Registers<kVecs>::of(slope), d = Registers<kVecs>::of(offset);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row * channels;
    FEDVG_UNROLL(4) for (int v = 0; v < kVecs; ++v) {
      const std::int64_t i = at + v * kLanes;
      const Vec fixed = (load(x + i) - m.v[v]) * b.v[v] + d.v[v];
      store(gx + i, load(g + i) * a.v[v] + fixed);
    }
  }
}

template <int kVecs>
inline void batch_norm_gradient_block(const BatchNormShape& s, const BatchNormBackward& f,
                                      std::int64_t c0) {
  constexpr std::int64_t kWidth = kVecs * kLanes;
  double sum[kWidth], product[kWidth], gw[kWidth], gb[kWidth];
  float scale[kWidth], slope[kWidth], offset[kWidth];
  for (std::int64_t c = 0; c < kWidth; ++c) gw[c] = gb[c] = 0;
  float* masked = !f.y ? nullptr : f.gradient_of_residual ? f.gradient_of_residual : f.gx;
  for (std::int64_t group = 0; group < s.groups(); ++group) {
    const std::int64_t rows = s.rows_of(group), begin = group * s.group * s.channels + c0;
    const float* mean = f.mean + group * s.channels + c0;
    const float* inverse = f.inverse_deviation + group * s.channels + c0;
    float* to = masked ? masked + begin : nullptr;
    if (f.y) {
      gradient_sums<kVecs, true>(rows, s.channels, f.x + begin, f.y + begin, f.g + begin, mean, to,
                                 sum, product);
    } else {
      gradient_sums<kVecs, false>(rows, s.channels, f.x + begin, nullptr, f.g + begin, mean, to,
                                  sum, product);
    }
    const double share = 1 / static_cast<double>(rows);
    for (std::int64_t c = 0; c < kWidth; ++c) {
      const auto deviation = static_cast<double>(inverse[c]);
      const double a = static_cast<double>(f.weight[c0 + c]) * deviation;
      gw[c] += product[c] * deviation;
      gb[c] += sum[c];
      scale[c] = static_cast<float>(a);
      slope[c] = static_cast<float>(-a * deviation * deviation * product[c] * share);
      offset[c] = static_cast<float>(-a * sum[c] * share);
    }
    if (f.gx) {
      input_gradient<kVecs>(rows, s.channels, f.x + begin, f.y ? to : f.g + begin, mean, scale,
                            slope, offset, f.gx + begin);
    }
  }
  for (std::int64_t c = 0; c < kWidth; ++c) {
    f.gw[c0 + c] = static_cast<float>(gw[c]);
    f.gb[c0 + c] = static_cast<float>(gb[c]);
  }
}

inline void batch_norm(const BatchNormShape& s, const BatchNormForward& f) {
  std::int64_t c = 0;
  constexpr std::int64_t kWhole = kBlockVecs * kLanes;
  for (; s.channels - c >= kWhole; c += kWhole) batch_norm_block<kBlockVecs>(s, f, c);
  for (; s.channels - c >= 2 * kLanes; c += 2 * kLanes) batch_norm_block<2>(s, f, c);
  for (; c < s.channels; c += kLanes) batch_norm_block<1>(s, f, c);
}

inline void batch_norm_gradient(const BatchNormShape& s, const BatchNormBackward& f) {
  std::int64_t c = 0;
  constexpr std::int64_t kWhole = kBlockVecs * kLanes;
  for (; s.channels - c >= kWhole; c += kWhole) batch_norm_gradient_block<kBlockVecs>(s, f, c);
  for (; s.channels - c >= 2 * kLanes; c += 2 * kLanes) batch_norm_gradient_block<2>(s, f, c);
  for (; c < s.channels; c += kLanes) batch_norm_gradient_block<1>(s, f, c);
}

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
