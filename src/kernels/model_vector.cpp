#include "kernels/model_vector.h"

#include <ATen/ops/isfinite.h>

#include "kernels/instruction_set.h"

namespace fedvg::kernels {
namespace {

bool dense(const at::Tensor& x, at::ScalarType type) {
  return x.device().is_cpu() && x.scalar_type() == type && x.is_non_overlapping_and_dense();
}

}  // namespace

void add_scaled(const at::Tensor& sum, const at::Tensor& x, double factor) {
  const KernelTable* table = active();
  if (!table || !dense(sum, at::kDouble) || !dense(x, at::kFloat) || sum.sizes() != x.sizes() ||
      sum.strides() != x.strides()) {
    sum.add_(x, factor);
    return;
  }
  table->add_scaled(x.const_data_ptr<float>(), x.numel(), factor, sum.data_ptr<double>());
}

bool all_finite(const at::Tensor& x) {
  if (!x.is_floating_point()) return true;
  const KernelTable* table = active();
  if (!table || !dense(x, at::kFloat)) return at::isfinite(x).all().item<bool>();
  return table->all_finite(x.const_data_ptr<float>(), x.numel());
}

}  // namespace fedvg::kernels
