#pragma once

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fedvg/combiner.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg::testing {

inline std::unique_ptr<Combiner> combiner(
    const std::string& name, std::initializer_list<std::pair<const char*, Value>> options = {}) {
  Table table;
  for (const auto& [key, value] : options) table.set(key, value);
  return Registry<Combiner>::instance().make(name, std::move(table));
}

/// A round of clients whose updates have a few numbers each, weighted by one score a client.
class Combination {
 public:
  explicit Combination(std::unique_ptr<Combiner> combiner, std::int64_t size = 1)
      : combiner_(std::move(combiner)),
        layout_({{.name = "w", .block = "w", .shape = {size}, .strides = {1}}}) {
    combiner_->begin(layout_, 1);
  }

  void add(const std::vector<double>& delta, double u = 1, Tensors buffers = {},
           double factor = 1) {
    ClientUpdate update{.samples = 1, .steps = 1};
    update.delta = at::zeros({layout_.size()}, at::kDouble);
    for (std::size_t i = 0; i < delta.size(); ++i) update.delta.data_ptr<double>()[i] = delta[i];
    update.buffers = std::move(buffers);
    scores_.push_back({{{u}, {u}}});
    combiner_->add(update, scores_.back(), {factor});
  }
  /// The combined step, or nothing.
  std::optional<std::vector<double>> step() {
    combined_ = combiner_->combine({1.0});
    if (!combined_) return std::nullopt;
    const at::Tensor values = layout_.segment(combined_->step, 0);
    return std::vector<double>(values.data_ptr<double>(),
                               values.data_ptr<double>() + values.numel());
  }
  const Tensors& buffers() const { return combined_->buffers; }
  double weight(std::size_t client) const {
    return combiner_->weights(client, scores_[client], {1.0})[0];
  }
  Combiner& combiner() { return *combiner_; }

 private:
  std::unique_ptr<Combiner> combiner_;
  Layout layout_;
  std::vector<std::vector<Score>> scores_;
  std::optional<Combined> combined_;
};

inline Tensors counter(std::int64_t value) { return {at::full({}, value, at::kLong)}; }
inline Tensors statistic(double value) { return {at::tensor({value}, at::kFloat)}; }

/// The step of these one-number updates.
inline double combined(std::unique_ptr<Combiner> combiner, const std::vector<double>& deltas) {
  Combination round(std::move(combiner));
  for (const double delta : deltas) round.add({delta});
  return round.step().value().at(0);
}

/// U11: nine honest updates near 1, one of 1e6.
inline std::vector<double> one_liar_of_ten() {
  return {0.97, 1.01, 1.0, 1e6, 0.99, 1.02, 0.98, 1.03, 1.0, 0.96};
}

}  // namespace fedvg::testing
