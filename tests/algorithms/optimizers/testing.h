#pragma once

#include <ATen/ops/tensor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "fedvg/server_optimizer.h"

namespace fedvg::testing {

inline std::unique_ptr<ServerOptimizer> server(
    const std::string& name, std::initializer_list<std::pair<const char*, Value>> options = {}) {
  Table table;
  for (const auto& [key, value] : options) table.set(key, value);
  return Registry<ServerOptimizer>::instance().make(name, std::move(table));
}

/// Where a model of one number stands after each of these combined steps, from 0.
inline std::vector<double> path(ServerOptimizer& optimizer, const std::vector<double>& steps,
                                double start = 0) {
  at::Tensor w = at::tensor({start}, at::kDouble);
  std::vector<double> result;
  for (const double d : steps) {
    optimizer.step(w, at::tensor({d}, at::kDouble));
    result.push_back(w.item<double>());
  }
  return result;
}

}  // namespace fedvg::testing
