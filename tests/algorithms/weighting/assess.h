#pragma once

#include <ATen/ops/zeros.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "fedvg/weighting.h"

namespace fedvg::testing {

/// Two matrices of a block "a" and one number of a block "b", with two buffers: one of
/// block "a" and one that no trainable tensor shares a block with.
inline Layout example_layout() {
  return Layout({{.name = "a.weight", .block = "a", .shape = {2, 2}, .strides = {2, 1}},
                 {.name = "a.bias", .block = "a", .shape = {2}, .strides = {1}},
                 {.name = "b.weight", .block = "b", .shape = {1}, .strides = {1}}});
}

/// An evaluator whose gradient and accuracy are what the test says.
class FakeEvaluator final : public Evaluator {
 public:
  explicit FakeEvaluator(const Layout& layout) : layout_(layout) {
    gradient_ = at::zeros({layout.size()}, at::kDouble);
  }
  void set(std::size_t tensor, std::vector<double> values) {
    const at::Tensor segment = layout_.segment(gradient_, tensor);
    for (std::size_t i = 0; i < values.size(); ++i) {
      segment[static_cast<std::int64_t>(i)].fill_(values[i]);
    }
  }
  double answer = 0;
  /// What a pass under scoring.budget shows, of `images` in all; none: no budget.
  std::vector<std::pair<std::int64_t, at::Tensor>> groups;
  std::int64_t images = 0;

  bool has_validation() const override { return true; }
  const at::Tensor& gradient() override { return gradient_; }
  const at::Tensor& gradient_by_groups(const GroupVisitor& see) override {
    for (const auto& [count, group] : groups) see(count, group);
    return gradient_;
  }
  std::int64_t validation_images() const override { return images; }
  double accuracy() override { return answer; }
  const Layout& layout() const override { return layout_; }
  std::span<const std::int64_t> buffer_blocks() const override { return blocks_; }

 private:
  const Layout& layout_;
  at::Tensor gradient_;
  std::vector<std::int64_t> blocks_ = {0, -1};
};

/// The rule's word on one client.
inline Assessment assess(const WeightingRule& rule, Evaluator& evaluator, std::int64_t samples = 1,
                         std::optional<at::Tensor> delta = {}) {
  const Layout& layout = evaluator.layout();
  const at::Tensor w = at::zeros({layout.size()}, at::kDouble);
  const Round round{1, 10, w, layout, {}};
  ClientUpdate update{.samples = samples, .steps = 1};
  update.delta = delta ? *delta : at::zeros({layout.size()}, at::kDouble);
  return rule.assess(round, update, evaluator);
}

inline std::unique_ptr<WeightingRule> rule(const std::string& name, Table options = {}) {
  return Registry<WeightingRule>::instance().make(name, std::move(options));
}

inline Table table(std::initializer_list<std::pair<const char*, Value>> entries) {
  Table result;
  for (const auto& [key, value] : entries) result.set(key, value);
  return result;
}

}  // namespace fedvg::testing
