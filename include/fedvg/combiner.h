#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fedvg/folding.h"
#include "fedvg/update.h"

namespace fedvg {

/// A round's combined step and buffers.
struct Combined {
  at::Tensor step;  ///< d, float64 [P]
  Tensors buffers;  ///< of the updates' types
};

/// Makes one step of the accepted updates. One object serves a run, one round at a time.
class Combiner {
 public:
  static constexpr const char* kind = "combiner";
  virtual ~Combiner() = default;

  /// False: updates count alike whatever the rule says, so a rule that weighs is refused.
  virtual bool takes_weights() const = 0;
  virtual Folding folding() const { return Folding::never; }
  /// Updates of model size that are held at once with `participants` in a round and
  /// `parts` scores a client: what `fedvg check` reports.
  virtual std::int64_t models_held(std::int64_t participants, std::int64_t parts) const = 0;
  /// Throws OptionError when so few participants give no guarantee.
  virtual void check(std::int64_t /*participants*/) const {}

  /// A new round; `layout` outlives it.
  virtual void begin(const Layout& layout, std::size_t parts) = 0;
  /// In the order of the sums.
  virtual void add(const ClientUpdate& update, const std::vector<Score>& scores,
                   const Column& factor) = 0;
  /// Nothing when there is no update or the total weight is 0.
  virtual std::optional<Combined> combine(const std::vector<double>& shares) = 0;
  /// W's row of the client added `index`-th, [1] or [T]; after combine.
  virtual Column weights(std::size_t index, const std::vector<Score>& scores,
                         const std::vector<double>& shares) const = 0;
};

}  // namespace fedvg
