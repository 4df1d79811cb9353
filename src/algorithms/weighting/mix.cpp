// The mean of several rules' normalised weightings:
//
//   W_k^l = sum_p share_p u_kp^l / sum_j u_jp^l
//
// mix(fedvg, size) in equal shares is the paper's "FedAvg + FedVG".

#include <algorithm>
#include <cmath>
#include <memory>

#include "fedvg/registry.h"
#include "fedvg/weighting.h"

namespace fedvg {
namespace {

struct MixOptions {
  std::vector<Part> of;
  std::vector<double> shares;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("of", &MixOptions::of, PartOf{"weighting"}, "the rules that are mixed");
    visit("shares", &MixOptions::shares, at_least(0),
          "of each rule, made to sum to 1; none: equal");
  }
};

class Mix final : public WeightingRule {
 public:
  explicit Mix(const MixOptions& options) : shares_(options.shares) {
    if (options.of.empty()) throw OptionError("weighting mix: `of` names no rule");
    if (shares_.empty()) shares_.assign(options.of.size(), 1.0);
    if (shares_.size() != options.of.size()) {
      throw OptionError("weighting mix: " + std::to_string(shares_.size()) + " shares for " +
                        std::to_string(options.of.size()) + " rules");
    }
    double sum = 0;
    for (const double share : shares_) sum += share;
    if (!(sum > 0)) throw OptionError("weighting mix: the shares sum to 0");
    for (double& share : shares_) share /= sum;
    for (const auto& part : options.of) {
      rules_.push_back(Registry<WeightingRule>::instance().make(part));
    }
  }

  bool needs_validation() const override {
    for (const auto& rule : rules_) {
      if (rule->needs_validation()) return true;
    }
    return false;
  }

  bool measures_spread() const override {
    bool any = false;
    for (const auto& rule : rules_) {
      if (rule->needs_validation() && !rule->measures_spread()) return false;
      any = any || rule->measures_spread();
    }
    return any;
  }

  Folding folding() const override {
    Folding least = Folding::always;
    for (const auto& rule : rules_) least = std::min(least, rule->folding());
    return least;
  }

  std::size_t parts() const override {
    std::size_t count = 0;
    for (const auto& rule : rules_) count += rule->parts();
    return count;
  }

  void begin(const Round& round, Evaluator& evaluator) override {
    for (auto& rule : rules_) rule->begin(round, evaluator);
  }

  Assessment assess(const Round& round, const ClientUpdate& update,
                    Evaluator& evaluator) const override {
    Assessment all;
    for (const auto& rule : rules_) {
      Assessment one = rule->assess(round, update, evaluator);
      all.parts.insert(all.parts.end(), one.parts.begin(), one.parts.end());
      for (auto& spread : one.spreads) all.spreads.push_back(std::move(spread));
      if (all.refused.empty()) all.refused = one.refused;
      if (!all.score) all.score = one.score;
      if (!all.norm) {
        all.norm = one.norm;
        all.tensor_norms = std::move(one.tensor_norms);
      }
    }
    return all;
  }

  std::vector<double> shares(std::span<const std::vector<Score>> scores) const override {
    std::vector<double> all;
    std::size_t first = 0;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const std::size_t count = rules_[i]->parts();
      std::vector<std::vector<Score>> own;
      for (const auto& client : scores) {
        const auto begin = client.begin() + static_cast<std::ptrdiff_t>(first);
        own.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
      }
      for (const double share : rules_[i]->shares(own)) all.push_back(shares_[i] * share);
      first += count;
    }
    return all;
  }

 private:
  std::vector<double> shares_;
  std::vector<std::unique_ptr<WeightingRule>> rules_;
};

FEDVG_REGISTER(WeightingRule, "mix", Mix, MixOptions, "the mean of several rules' weights");

}  // namespace
}  // namespace fedvg
