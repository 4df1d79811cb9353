#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedvg/folding.h"
#include "fedvg/update.h"

namespace fedvg {

/// Looks at the model that a worker holds right now, over the server's D_val. Leaves the
/// model, its buffers and every random stream as they were.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// False: there is no D_val, and the other calls throw.
  virtual bool has_validation() const = 0;
  /// Gradient of the mean cross-entropy over D_val, [P]. Valid until the model changes;
  /// asking twice costs once.
  virtual const at::Tensor& gradient() = 0;
  /// Takes the number of images of a group and the gradient of their mean cross-entropy, [P],
  /// which is valid during the call.
  using GroupVisitor = std::function<void(std::int64_t images, const at::Tensor& gradient)>;
  /// gradient() for a rule that measures_spread(). Under scoring.budget it is of a part of D_val,
  /// the same for all participants of a round, in which every class has about its share, and
  /// `see` is shown the gradients of the disjoint groups of images that make it up, which tell
  /// how far it may be from D_val's. Each call is a pass. Without the budget: all of D_val, and
  /// nothing is shown.
  virtual const at::Tensor& gradient_by_groups(const GroupVisitor& /*see*/) { return gradient(); }
  /// Images of D_val, whatever part of it is scored on.
  virtual std::int64_t validation_images() const { return 0; }
  /// Share of right answers on D_val, in evaluation mode.
  virtual double accuracy() = 0;
  virtual const Layout& layout() const = 0;
  /// For each buffer of the model the index of its block among layout().blocks(), or -1
  /// where no trainable tensor shares its block.
  virtual std::span<const std::int64_t> buffer_blocks() const = 0;
};

/// What the groups of images behind a client's scores by one rule say about their noise.
struct ScoreSpread {
  struct Group {
    std::int64_t images;
    /// By how much of itself u would be larger, to first order and but for the bias that a
    /// smaller number of images brings, had it been measured on this group alone; by column.
    Column deviation;
  };
  Column scores;  ///< u, [1] or [T]
  std::vector<Group> groups;
};

/// What a rule says of one client.
struct Assessment {
  std::vector<Score> parts;     ///< one a part of the rule
  std::string refused;          ///< "" or why its weight is 0: "dead", "not-finite"
  std::optional<double> score;  ///< u where the rule measures something, mean over columns
  std::optional<double> norm;   ///< mean norm over tensors, where one was measured
  Column tensor_norms;          ///< [T], likewise
  /// One a rule that measured it; empty without scoring.budget.
  std::vector<ScoreSpread> spreads{};
};

/// Decides how much each client counts: W [participants x tensors], the heart of FedVG.
///
/// Client k's share of tensor l in part p is u_kp^l / sum_j u_jp^l, and parts are mixed
/// with shares: W_k^l = sum_p share_p u_kp^l / sum_j u_jp^l. Columns of W sum to 1.
class WeightingRule {
 public:
  static constexpr const char* kind = "weighting";
  virtual ~WeightingRule() = default;

  /// True: a run without D_val is refused.
  virtual bool needs_validation() const { return false; }
  /// True: the rule can score on a part of D_val and say in Assessment::spreads how far that is
  /// from all of it; scoring.budget is refused with others.
  virtual bool measures_spread() const { return false; }
  /// Of what it looks at: updates, and the gradients of D_val.
  virtual Folding folding() const { return Folding::never; }
  /// Number of scores a client gets.
  virtual std::size_t parts() const { return 1; }
  /// Before the first client of a round; the evaluator holds the global model.
  virtual void begin(const Round&, Evaluator&) {}
  /// Right after a client's training, in its worker: several at once, so const.
  virtual Assessment assess(const Round&, const ClientUpdate&, Evaluator&) const = 0;
  /// [parts], sum 1; at the end of the round, from the scores of every accepted client.
  /// A part of share 0 is left out.
  virtual std::vector<double> shares(std::span<const std::vector<Score>> /*scores*/) const {
    return {1.0};
  }
};

/// One assessment that is the same for the whole model.
Assessment one_score(double u);

}  // namespace fedvg
