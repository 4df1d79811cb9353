// An instance of every loop: included once by each file of instances/, which defines
// FEDVG_INSTANCE (a namespace) and FEDVG_LANES (floats in a register). These files include no
// header of the standard library that defines functions: an inline function compiled here for
// newer instructions could be the copy that the linker keeps for the whole program.

#include "kernels/kernel_table.h"
#include "kernels/loops/batch_norm.h"
#include "kernels/loops/convolution.h"
#include "kernels/loops/convolution_relu_pool.h"
#include "kernels/loops/model_vector.h"
#include "kernels/loops/multiply_add.h"
#include "kernels/loops/relu_max_pool.h"

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

constexpr KernelTable kTable{
    .name = FEDVG_LANES == 16 ? "avx512" : "avx2",
    .lanes = FEDVG_LANES,
    .convolution = convolution,
    .convolution_input_gradient = convolution_input_gradient,
    .convolution_weight_gradient = convolution_weight_gradient,
    .column_sums = column_sums,
    .batch_norm = batch_norm,
    .batch_norm_gradient = batch_norm_gradient,
    .relu_max_pool = relu_max_pool,
    .relu_max_pool_gradient = relu_max_pool_gradient,
    .convolution_relu_pool = convolution_relu_pool,
    .convolution_relu_pool_gradient = convolution_relu_pool_gradient,
    .add_scaled = add_scaled,
    .all_finite = all_finite,
    .multiply_add = multiply_add,
};

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
