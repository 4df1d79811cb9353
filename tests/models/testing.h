#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fedvg/model.h"
#include "fedvg/registry.h"

namespace fedvg {

inline std::unique_ptr<Model> build_model(const std::string& name, const ModelInput& input,
                                          Table options = {}) {
  return Registry<ModelBuilder>::instance().make(name, std::move(options))->build(input);
}

inline std::int64_t count_parameters(const Model& model) {
  std::int64_t sum = 0;
  for (const auto& parameter : model.parameters()) sum += parameter.tensor.numel();
  return sum;
}

inline std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const auto& entry : tensors) names.push_back(entry.name);
  return names;
}

/// Blocks of the tensors, each once, in order of first appearance.
inline std::vector<std::string> blocks_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> blocks;
  for (const auto& entry : tensors) {
    if (blocks.empty() || blocks.back() != entry.block) blocks.push_back(entry.block);
  }
  return blocks;
}

/// The tensor of a name; undefined when there is none.
inline at::Tensor find_tensor(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const auto& entry : tensors) {
    if (entry.name == name) return entry.tensor;
  }
  return {};
}

}  // namespace fedvg
