#include "algorithms/corrections/pending_sum.h"

#include <ATen/ops/zeros_like.h>

namespace fedvg {

void PendingSum::add(const at::Tensor& part) {
  if (!pending_.defined()) pending_ = at::zeros_like(part, part.options().dtype(at::kDouble));
  pending_.add_(part);
}

void PendingSum::take(double divisor) {
  if (!pending_.defined()) return;
  pending_.div_(divisor);
  total_ = total_.defined() ? total_.add(pending_) : pending_;
  pending_.reset();
}

TensorMap PendingSum::state() const { return empty() ? TensorMap{} : TensorMap{{name_, total_}}; }

void PendingSum::restore(const TensorMap& state) {
  const auto total = state.find(name_);
  total_ = total == state.end() ? at::Tensor() : total->second;
}

}  // namespace fedvg
