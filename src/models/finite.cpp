#include "models/finite.h"

#include <ATen/ops/isfinite.h>

#include <cmath>

#include "fedvg/error.h"
#include "fedvg/value.h"

namespace fedvg {

void check_finite(const std::string& name, const at::Tensor& in_file, const at::Tensor& value) {
  if (!value.is_floating_point()) return;
  const at::Tensor wrong = at::isfinite(value).logical_not().flatten();
  const auto count = wrong.sum().item<std::int64_t>();
  if (count == 0) return;
  const auto first = wrong.to(at::kByte).argmax().item<std::int64_t>();
  const auto number = in_file.flatten()[first].item<double>();
  const char* as = std::isfinite(number) ? " (as float32)" : "";
  throw DataError(name + ": " + std::to_string(count) + " of its " + std::to_string(value.numel()) +
                  " numbers " + (count == 1 ? "is" : "are") + " not finite, the first " +
                  (std::isnan(number) ? "nan" : Value(number).text()) + as + " at position " +
                  std::to_string(first) + "; the file is damaged, or of a run that diverged");
}

}  // namespace fedvg
