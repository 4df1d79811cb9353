#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "fedvg/layout.h"

namespace fedvg {

/// A running float64 sum over rounds, [P], of which this round's share waits until the
/// round has succeeded. State that was handed out stays as it is: taking makes a new tensor.
class PendingSum {
 public:
  explicit PendingSum(std::string name) : name_(std::move(name)) {}

  /// Nothing was taken yet.
  bool empty() const { return !total_.defined(); }
  const at::Tensor& total() const { return total_; }

  void add(const at::Tensor& part);
  /// Adds what waits, divided by `divisor`, to the total.
  void take(double divisor = 1);
  void drop() { pending_.reset(); }

  /// The total under the sum's name; empty before the first take.
  TensorMap state() const;
  void restore(const TensorMap& state);

 private:
  std::string name_;
  at::Tensor total_, pending_;
};

}  // namespace fedvg
