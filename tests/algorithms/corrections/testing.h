#pragma once

#include <ATen/ops/zeros.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fedvg/correction.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg::testing {

inline Table table(std::initializer_list<std::pair<const char*, Value>> entries) {
  Table result;
  for (const auto& [key, value] : entries) result.set(key, value);
  return result;
}

inline std::unique_ptr<Correction> correction(
    const std::string& name, std::initializer_list<std::pair<const char*, Value>> options = {}) {
  return Registry<Correction>::instance().make(name, table(options));
}

inline std::unique_ptr<LocalOptimizer> local_optimizer(
    const std::string& name, std::initializer_list<std::pair<const char*, Value>> options = {}) {
  return Registry<LocalOptimizer>::instance().make(name, table(options));
}

/// Vectors of these lengths, each a block of its own.
inline Layout layout_of_sizes(const std::vector<std::int64_t>& sizes) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string name = "t" + std::to_string(i);
    slots.push_back({.name = name, .block = name, .shape = {sizes[i]}, .strides = {1}});
  }
  return Layout(std::move(slots));
}

/// A flat vector, float64, from the numbers of each tensor.
inline at::Tensor flat(const Layout& layout, const std::vector<std::vector<double>>& values) {
  at::Tensor result = at::zeros({layout.size()}, at::kDouble);
  for (std::size_t l = 0; l < values.size(); ++l) {
    auto* to = layout.segment(result, l).data_ptr<double>();
    for (std::size_t i = 0; i < values[l].size(); ++i) to[i] = values[l][i];
  }
  return result;
}

/// The numbers of one tensor of a flat vector.
inline std::vector<double> numbers(const Layout& layout, const at::Tensor& flat,
                                   std::size_t tensor = 0) {
  const at::Tensor segment = layout.segment(flat, tensor).to(at::kDouble);
  const auto* from = segment.data_ptr<double>();
  return {from, from + segment.numel()};
}

/// Gradients and features as the test says; remembers what it was asked.
class FakeTools final : public LocalTools {
 public:
  explicit FakeTools(LocalContext& context) : context_(context) {}

  std::function<at::Tensor(std::span<const std::int64_t>)> gradient;
  std::function<at::Tensor(std::size_t slot)> features;
  std::vector<std::vector<std::int64_t>> batches;  ///< asked for, in order
  std::vector<Mode> modes;
  std::map<std::size_t, at::Tensor> replicas;
  std::map<std::size_t, Tensors> replica_buffers;

  void gradient_of(std::span<const std::int64_t> samples, Mode mode, bool add) override {
    batches.emplace_back(samples.begin(), samples.end());
    modes.push_back(mode);
    if (!add) context_.gradient.zero_();
    context_.gradient.add_(gradient(samples));
  }
  void load_replica(std::size_t slot, const at::Tensor& w, const Tensors& buffers) override {
    replicas[slot] = w.clone();
    replica_buffers[slot] = buffers;
  }
  at::Tensor replica_features(std::size_t slot, const at::Tensor&) override {
    return features(slot);
  }

 private:
  LocalContext& context_;
};

/// One client's round with everything in reach: the round's global model, w_local and the
/// gradient start at 0.
struct LocalRound {
  Layout layout;
  Tensors buffers;
  TensorMap inbox, state;
  std::vector<std::int64_t> samples;
  Random random{1, "correction", 1, 0};
  LocalContext context;
  FakeTools tools{context};
  ClientUpdate update;

  explicit LocalRound(const std::vector<std::int64_t>& sizes = {1})
      : layout(layout_of_sizes(sizes)) {
    context.round = 1;
    context.parameters = at::zeros({layout.size()}, at::kDouble);
    context.gradient = at::zeros({layout.size()}, at::kDouble);
    context.global = at::zeros({layout.size()}, at::kDouble);
    context.global_buffers = &buffers;
    context.layout = &layout;
    context.random = &random;
    context.inbox = &inbox;
    context.state = &state;
    context.samples = &samples;
    context.tools = &tools;
    update.delta = at::zeros({layout.size()}, at::kDouble);
  }
  LocalRound(const LocalRound&) = delete;
  LocalRound& operator=(const LocalRound&) = delete;

  at::Tensor vector(const std::vector<std::vector<double>>& values) const {
    return flat(layout, values);
  }
  std::vector<double> gradient(std::size_t tensor = 0) const {
    return numbers(layout, context.gradient, tensor);
  }
};

/// The gradient that a correction makes of `gradient` at w_local, with global model w.
inline double corrected(const Correction& correction, double w_local, double w, double gradient) {
  LocalRound local;
  local.context.parameters = local.vector({{w_local}});
  local.context.global = local.vector({{w}});
  correction.begin(local.context);
  local.context.gradient.copy_(local.vector({{gradient}}));
  correction.grad(local.context);
  return local.gradient()[0];
}

}  // namespace fedvg::testing
