#pragma once

#include <ATen/ops/tensor.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fedvg/error.h"
#include "fedvg/local_optimizer.h"
#include "fedvg/registry.h"

namespace fedvg::testing {

inline std::unique_ptr<LocalOptimizer> local(
    const std::string& name, std::initializer_list<std::pair<const char*, Value>> options = {}) {
  Table table;
  for (const auto& [key, value] : options) table.set(key, value);
  return Registry<LocalOptimizer>::instance().make(name, std::move(table));
}

inline at::Tensor vector(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble);
}

inline std::vector<double> numbers(const at::Tensor& tensor) {
  return {tensor.data_ptr<double>(), tensor.data_ptr<double>() + tensor.numel()};
}

/// What PyTorch's own optimizers do: tests/golden/optimizers/torch_optim.json, written by
/// tests/golden/make_torch_optim.py.
inline const nlohmann::json& torch_optim() {
  static const nlohmann::json values = [] {
    std::ifstream file(FEDVG_SOURCE_DIR "/tests/golden/optimizers/torch_optim.json");
    return nlohmann::json::parse(file);
  }();
  return values;
}

inline Table options_of(const nlohmann::json& one) {
  Table options;
  for (const auto& [key, value] : one["options"].items()) {
    options.set(key, value.is_boolean() ? Value(value.get<bool>()) : Value(value.get<double>()));
  }
  return options;
}

/// Largest difference to PyTorch along one case's path.
inline double apart_from_torch(const nlohmann::json& one, LocalOptimizer& optimizer) {
  at::Tensor w = vector(torch_optim()["start"]);
  double apart = 0;
  for (std::size_t i = 0; i < one["path"].size(); ++i) {
    at::Tensor gradient = vector(torch_optim()["gradients"][i]);
    optimizer.step(w, gradient, one["rates"][i]);
    const std::vector<double> wanted = one["path"][i];
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      apart = std::max(apart, std::abs(numbers(w)[n] - wanted[n]));
    }
  }
  return apart;
}

}  // namespace fedvg::testing
