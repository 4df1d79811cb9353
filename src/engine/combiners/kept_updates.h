#pragma once

#include <vector>

#include "fedvg/combiner.h"

namespace fedvg {

/// What the robust combiners share: they keep every update of the round, and all count
/// alike. Buffers are combined number by number like the updates.
class KeptUpdates : public Combiner {
 public:
  bool takes_weights() const override { return false; }
  /// As all updates of a number that the loss does not depend on are multiples of it, what is
  /// chosen among them, by order or by l2 distances, is the same multiple for each.
  Folding folding() const override { return Folding::always; }
  std::int64_t models_held(std::int64_t participants, std::int64_t) const override {
    return participants;
  }
  void begin(const Layout&, std::size_t) override;
  void add(const ClientUpdate& update, const std::vector<Score>& scores,
           const Column& factor) override;
  std::optional<Combined> combine(const std::vector<double>& shares) override;
  Column weights(std::size_t, const std::vector<Score>&,
                 const std::vector<double>&) const override {
    return {1 / static_cast<double>(deltas_.size())};
  }

 protected:
  /// [K, n] float64 to [n].
  virtual at::Tensor reduce(const at::Tensor& rows) const = 0;

  Tensors deltas_;                ///< [K] of [P]
  std::vector<Tensors> buffers_;  ///< [K]
};

}  // namespace fedvg
