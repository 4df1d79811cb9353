// Krum (Blanchard et al., 2017, "Machine Learning with Adversaries"): the update whose sum
// of squared distances to its K - f - 2 nearest others is smallest; ties go to the first
// in the order of the sums. It needs K >= 2 f + 3.

#include <ATen/ops/dot.h>

#include <algorithm>

#include "engine/combiners/kept_updates.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct KrumOptions {
  std::int64_t malicious = 1;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("malicious", &KrumOptions::malicious, at_least(0),
          "f, participants that may send anything; a round needs 2 f + 3 participants");
  }
};

class Krum final : public KeptUpdates {
 public:
  explicit Krum(const KrumOptions& options) : options_(options) {}

  void check(std::int64_t participants) const override {
    const std::int64_t needed = 2 * options_.malicious + 3;
    if (participants >= needed) return;
    throw OptionError("combiner krum: with " + std::to_string(options_.malicious) +
                      " malicious it needs " + std::to_string(needed) +
                      " participants a round, "
                      "there are " +
                      std::to_string(participants));
  }

  std::optional<Combined> combine(const std::vector<double>&) override {
    const auto count = static_cast<std::int64_t>(deltas_.size());
    if (count < 2 * options_.malicious + 3) return std::nullopt;
    chosen_ = choose();
    return Combined{deltas_[chosen_].to(at::kDouble), buffers_[chosen_]};
  }

  Column weights(std::size_t index, const std::vector<Score>&,
                 const std::vector<double>&) const override {
    return {index == chosen_ ? 1.0 : 0.0};
  }

 protected:
  at::Tensor reduce(const at::Tensor& rows) const override { return rows[0]; }

 private:
  std::size_t choose() const {
    const std::size_t count = deltas_.size();
    std::vector<std::vector<double>> squares(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const at::Tensor apart = deltas_[i].to(at::kDouble).sub(deltas_[j]);
        const double square = at::dot(apart, apart).item<double>();
        squares[i].push_back(square);
        squares[j].push_back(square);
      }
    }
    const auto nearest = count - static_cast<std::size_t>(options_.malicious) - 2;
    std::size_t best = 0;
    double least = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::sort(squares[i].begin(), squares[i].end());
      double sum = 0;
      for (std::size_t n = 0; n < nearest; ++n) sum += squares[i][n];
      if (i == 0 || sum < least) {
        best = i;
        least = sum;
      }
    }
    return best;
  }

  KrumOptions options_;
  std::size_t chosen_ = 0;
};

FEDVG_REGISTER(Combiner, "krum", Krum, KrumOptions, "the one update nearest to its neighbours");

}  // namespace
}  // namespace fedvg
