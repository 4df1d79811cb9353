#include "fedvg/options.h"

#include <cmath>

#include "config/toml_text.h"

namespace fedvg {
namespace {

std::string bound_text(double bound) {
  std::string text = config::toml_number(bound);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

std::string Bounds::text() const {
  const bool below = std::isfinite(high);
  const bool above = std::isfinite(low);
  if (above && below) {
    return std::string("in ") + (low_open ? "(" : "[") + bound_text(low) + ", " + bound_text(high) +
           (high_open ? ")" : "]");
  }
  if (above) return (low_open ? "> " : ">= ") + bound_text(low);
  if (below) return (high_open ? "< " : "<= ") + bound_text(high);
  return "";
}

bool Bounds::contains(double value) const {
  if (std::isnan(value) || (finite && std::isinf(value))) return false;
  return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
}

}  // namespace fedvg
