// FedVG (arXiv 2602.21399): a client counts the more, the flatter the validation loss is
// at its model.
//
//   G_k^l = || gradient of D_val's mean cross-entropy at w_k, tensor l ||
//   u_k = 1 / (mean_l G_k^l + eps)          granularity model
//   u_k^l = 1 / (G_k^l + eps)               granularity layer; block: mean over the block
//
// score_floor r: G is not taken below r times the norm at the round's global model, column
// by column, so that a model that hardly answers to its input cannot win by that alone.
//
// Under scoring.budget the gradient is of a part of D_val, and G, by column, is what noisy_norm.h
// makes of its norm: that of D_val's own gradient, without the bias of the noise.

#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/linalg_vector_norm.h>

#include <algorithm>
#include <limits>

#include "algorithms/weighting/noisy_norm.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"
#include "fedvg/weighting.h"

namespace fedvg {
namespace {

struct FedVgOptions {
  std::string norm = "l1";
  std::string granularity = "model";
  std::string reduce = "mean";
  double eps = 1e-8;
  double score_floor = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("norm", &FedVgOptions::norm, OneOf{{"l1", "l2", "linf", "spectral", "delta"}},
          "norm of a tensor's validation gradient; delta: l1 norm of the update, no D_val needed");
    visit("granularity", &FedVgOptions::granularity, OneOf{{"model", "layer", "block"}},
          "one weight a client, or one a client and tensor, or one a client and block");
    visit("reduce", &FedVgOptions::reduce, OneOf{{"mean", "sum"}},
          "of the norms of a model's or a block's tensors; differs only in what eps weighs");
    visit("eps", &FedVgOptions::eps, above(0), "added to a norm before it is inverted");
    visit("score_floor", &FedVgOptions::score_floor, at_least(0),
          "norms count as at least this times the norm at the global model; 0: off");
  }
};

class FedVg final : public WeightingRule {
 public:
  explicit FedVg(const FedVgOptions& options) : options_(options) {
    if (options.norm == "delta" && options.score_floor > 0) {
      throw OptionError(
          "weighting fedvg: score_floor is a norm of the validation gradient, which norm = "
          "\"delta\" does not take; leave score_floor at 0");
    }
  }

  bool needs_validation() const override { return options_.norm != "delta"; }
  // Singular values of every group's gradient would take longer than the images that are saved.
  bool measures_spread() const override {
    return needs_validation() && options_.norm != "spectral";
  }

  // Norms of D_val's gradient, which is 0 there; an update's l1 norm is not its l2 norm.
  Folding folding() const override {
    return needs_validation() ? Folding::always : Folding::at_rest;
  }

  void begin(const Round& round, Evaluator& evaluator) override {
    floor_.clear();
    if (options_.score_floor == 0) return;
    GroupNorms groups;
    const at::Tensor& gradient = validation_gradient(round.layout, evaluator, groups);
    floor_ = estimates(columns(norms(gradient, round.layout), round.layout), groups);
    for (NormEstimate& floor : floor_) floor.norm *= options_.score_floor;
  }

  Assessment assess(const Round& round, const ClientUpdate& update,
                    Evaluator& evaluator) const override {
    Assessment assessment;
    const bool of_update = options_.norm == "delta";
    GroupNorms groups;
    const at::Tensor& vector =
        of_update ? update.delta : validation_gradient(round.layout, evaluator, groups);
    if (!at::isfinite(vector).all().item<bool>()) {
      assessment.refused = "not-finite";
      return assessment;
    }
    assessment.tensor_norms = norms(vector, round.layout);
    assessment.norm = mean(assessment.tensor_norms);
    // A zero gradient everywhere is a dead network, and 1/eps would give it everything.
    if (!of_update && *assessment.norm == 0) {
      assessment.refused = "dead";
      return assessment;
    }
    auto counted = estimates(columns(assessment.tensor_norms, round.layout), groups);
    for (std::size_t i = 0; i < floor_.size(); ++i) {
      if (counted[i].norm < floor_[i].norm) counted[i] = floor_[i];
    }
    Score score;
    for (const auto& one : counted) score.tensors.push_back(1 / (one.norm + options_.eps));
    score.buffers = of_buffers(score.tensors, round.layout, evaluator);
    assessment.score = mean(score.tensors);
    if (!groups.images.empty()) {
      assessment.spreads.push_back(spread(score.tensors, counted, groups));
    }
    assessment.parts.push_back(std::move(score));
    return assessment;
  }

 private:
  const at::Tensor& validation_gradient(const Layout& layout, Evaluator& evaluator,
                                        GroupNorms& groups) const {
    groups.all = evaluator.validation_images();
    return evaluator.gradient_by_groups([&](std::int64_t images, const at::Tensor& gradient) {
      groups.images.push_back(images);
      groups.norms.push_back(columns(norms(gradient, layout), layout));
    });
  }

  static std::vector<NormEstimate> estimates(const Column& whole, const GroupNorms& groups) {
    std::vector<NormEstimate> result;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      result.push_back(estimate_norm(whole[i], groups, i));
    }
    return result;
  }

  /// Of u = 1/(norm + eps): du/u = -d norm/(norm + eps).
  ScoreSpread spread(const Column& u, const std::vector<NormEstimate>& norms,
                     const GroupNorms& groups) const {
    ScoreSpread result{u, {}};
    for (std::size_t j = 0; j < groups.images.size(); ++j) {
      ScoreSpread::Group group{groups.images[j], {}};
      for (const auto& one : norms) {
        group.deviation.push_back(-one.deviations[j] * one.norm / (one.norm + options_.eps));
      }
      result.groups.push_back(std::move(group));
    }
    return result;
  }

  Column norms(const at::Tensor& flat, const Layout& layout) const {
    Column result;
    for (std::size_t i = 0; i < layout.tensors(); ++i) {
      result.push_back(norm(layout, flat, i));
    }
    return result;
  }

  double norm(const Layout& layout, const at::Tensor& flat, std::size_t i) const {
    const auto& shape = layout.slots()[i].shape;
    if (layout.slots()[i].numel == 0) return 0;
    if (options_.norm == "spectral" && shape.size() > 1) {
      const at::Tensor matrix = layout.view(flat, i).reshape({shape[0], -1});
      return at::linalg_svdvals(matrix).max().item<double>();
    }
    const double order = options_.norm == "linf" ? std::numeric_limits<double>::infinity()
                         : options_.norm == "l2" || options_.norm == "spectral" ? 2
                                                                                : 1;
    return at::linalg_vector_norm(layout.segment(flat, i), order, at::OptionalIntArrayRef{}, false,
                                  at::kDouble)
        .item<double>();
  }

  /// [1] or [T], from [T] norms.
  Column columns(const Column& norms, const Layout& layout) const {
    const bool summed = options_.reduce == "sum";
    if (options_.granularity == "layer") return norms;
    if (options_.granularity == "model") {
      return {summed ? mean(norms) * static_cast<double>(norms.size()) : mean(norms)};
    }
    Column sum(layout.blocks().size()), count(layout.blocks().size()), result;
    for (std::size_t i = 0; i < norms.size(); ++i) {
      sum[layout.block_of()[i]] += norms[i];
      count[layout.block_of()[i]] += 1;
    }
    for (const std::size_t block : layout.block_of()) {
      result.push_back(summed ? sum[block] : sum[block] / count[block]);
    }
    return result;
  }

  /// Buffers follow their block; tensor by tensor there is no column for them: uniform.
  Column of_buffers(const Column& tensors, const Layout& layout, Evaluator& evaluator) const {
    if (options_.granularity == "model") return tensors;
    if (options_.granularity == "layer") return {1.0};
    Column result;
    for (const std::int64_t block : evaluator.buffer_blocks()) {
      const auto found = std::find(layout.block_of().begin(), layout.block_of().end(),
                                   static_cast<std::size_t>(block));
      result.push_back(
          block < 0 ? 1.0 : tensors[static_cast<std::size_t>(found - layout.block_of().begin())]);
    }
    return result.empty() ? Column{1.0} : result;
  }

  FedVgOptions options_;
  std::vector<NormEstimate> floor_;  ///< [1] or [T], or empty
};

FEDVG_REGISTER(WeightingRule, "fedvg", FedVg, FedVgOptions,
               "by the inverse norm of the validation gradient at a client's model");
FEDVG_METHOD((Method{.name = "fedvg", .weighting = {"fedvg", {}}}),
             "local SGD, models weighted by the flatness of the validation loss");

}  // namespace
}  // namespace fedvg
