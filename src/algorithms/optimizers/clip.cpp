#include "fedvg/clip.h"

#include <ATen/ops/linalg_vector_norm.h>

#include <cmath>

namespace fedvg {

void clip_to_norm(at::Tensor& gradient, double max_norm) {
  if (max_norm <= 0) return;
  double norm = at::linalg_vector_norm(gradient, 2).item<double>();
  if (std::isinf(norm)) {  // squares of large float32 numbers overflow; the gradient need not
    norm = at::linalg_vector_norm(gradient.to(at::kDouble), 2).item<double>();
  }
  const double factor = max_norm / (norm + 1e-6);
  if (factor < 1) gradient.mul_(factor);
}

}  // namespace fedvg
