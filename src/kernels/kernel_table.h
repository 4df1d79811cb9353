#pragma once

#include <cstddef>
#include <cstdint>

// What an instruction set's instance of the loops offers: plain functions of float arrays,
// no tensors. Arrays are dense; images lie as [N, H, W, C], weights of convolutions as
// [out, kernel_h, kernel_w, in], which is what libtorch calls channels_last. Nothing here
// allocates: whoever calls hands in scratch space.

namespace fedvg::kernels {

/// A square-stride convolution without groups or dilation.
struct ConvolutionShape {
  std::int64_t images, height, width, in;
  std::int64_t out, kernel_h, kernel_w;
  std::int64_t stride = 1, padding = 0;

  std::int64_t out_height() const { return (height + 2 * padding - kernel_h) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * padding - kernel_w) / stride + 1; }
  std::int64_t taps() const { return kernel_h * kernel_w; }
  std::int64_t filter() const { return taps() * in; }  ///< weights of one output channel
};

/// Rows (pixels) of `channels` numbers; each `group` of them has its own statistics, the last
/// group has the rows that remain.
struct BatchNormShape {
  std::int64_t rows, channels, group;

  std::int64_t groups() const { return (rows + group - 1) / group; }
  std::int64_t rows_of(std::int64_t index) const {
    return index + 1 < groups() ? group : rows - index * group;
  }
};

/// y = ReLU((x - mean) * weight * inverse_deviation + bias + residual).
struct BatchNormForward {
  const float *x, *weight, *bias;
  const float* residual;  ///< null: none
  float* y;
  float *mean, *inverse_deviation;    ///< [groups, channels], written
  float *running_mean, *running_var;  ///< null: not kept
  double momentum, eps;
  bool relu;
};

struct BatchNormBackward {
  const float* x;
  const float* y;  ///< null: no ReLU
  const float *g, *weight, *mean, *inverse_deviation;
  float* gx;                    ///< null: not asked for
  float* gradient_of_residual;  ///< null: not asked for, or no ReLU: it is g then
  float *gw, *gb;
};

/// Windows of 2x2, the next begins where the last ends; a last odd row or column is left out.
struct PoolShape {
  std::int64_t images, height, width, channels;

  std::int64_t out_height() const { return height / 2; }
  std::int64_t out_width() const { return width / 2; }
};

/// Of a window without a positive number, which passes no gradient. Others have the place of
/// their maximum: 0 1 in the upper row, 2 3 in the lower.
constexpr std::uint8_t kDead = 4;

/// Floats of scratch that each of the three convolution loops needs at most.
std::size_t convolution_scratch(const ConvolutionShape& shape);

/// Floats that multiply_add works on.
constexpr std::int64_t kMultiplyAddNumbers = 192;

struct KernelTable {
  const char* name;
  std::int64_t lanes;  ///< floats in a register

  // loops/convolution.h. Channels: multiples of 16. bias [out] or null.
  void (*convolution)(const ConvolutionShape&, const float* x, const float* w, const float* bias,
                      float* y, float* scratch);
  void (*convolution_input_gradient)(const ConvolutionShape&, const float* g, const float* w,
                                     float* gx, float* scratch);
  void (*convolution_weight_gradient)(const ConvolutionShape&, const float* x, const float* g,
                                      float* gw, float* scratch);
  /// sums [columns] = sum over the rows of x [rows, columns]
  void (*column_sums)(const float* x, std::int64_t rows, std::int64_t columns, float* sums);

  // loops/batch_norm.h. Channels: a multiple of 16; at least two rows in a group.
  void (*batch_norm)(const BatchNormShape&, const BatchNormForward&);
  void (*batch_norm_gradient)(const BatchNormShape&, const BatchNormBackward&);

  // loops/relu_max_pool.h. Any number of channels. index: as large as y, null: not kept.
  void (*relu_max_pool)(const PoolShape&, const float* x, float* y, std::uint8_t* index);
  void (*relu_max_pool_gradient)(const PoolShape&, const float* g, const std::uint8_t* index,
                                 float* gx);

  // loops/convolution_relu_pool.h. out: a multiple of 16; any `in`; stride 1, padding 0; the map
  // before the pool at least 2x2. bias [out] or null, index as above; gw, gb: null, not asked
  // for. Scratch as for a convolution.
  void (*convolution_relu_pool)(const ConvolutionShape&, const float* x, const float* w,
                                const float* bias, float* y, std::uint8_t* index, float* scratch);
  void (*convolution_relu_pool_gradient)(const ConvolutionShape&, const float* x, const float* g,
                                         const std::uint8_t* index, float* gw, float* gb,
                                         float* scratch);

  // loops/model_vector.h. Of `size` numbers that lie one after another.
  void (*add_scaled)(const float* x, std::int64_t size, double factor, double* sum);
  bool (*all_finite)(const float* x, std::int64_t size);

  // loops/multiply_add.h. Works through kMultiplyAddNumbers floats and returns how many
  // multiply-adds that were.
  std::int64_t (*multiply_add)(std::int64_t rounds, float* numbers);
};

/// Null where the compiler or the processor's family has no such instructions; whether this
/// very processor has them is instruction_set.h's business.
const KernelTable* avx2_kernels();
const KernelTable* avx512_kernels();

}  // namespace fedvg::kernels
