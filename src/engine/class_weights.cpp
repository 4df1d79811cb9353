#include "engine/class_weights.h"

namespace fedvg {

std::vector<double> balanced_class_weights(const std::vector<std::int64_t>& samples) {
  double all = 0, present = 0;
  for (const auto count : samples) {
    all += static_cast<double>(count);
    present += count > 0;
  }
  std::vector<double> weights;
  for (const auto count : samples) {
    weights.push_back(count == 0 ? 0 : all / (present * static_cast<double>(count)));
  }
  return weights;
}

}  // namespace fedvg
