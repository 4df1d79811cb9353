// The weighted mean: sums stream, so memory does not grow with the participants.

#include "engine/combiners/update_sum.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

class Mean final : public Combiner {
 public:
  explicit Mean(const NoOptions&) {}

  bool takes_weights() const override { return true; }
  Folding folding() const override { return Folding::always; }
  std::int64_t models_held(std::int64_t, std::int64_t parts) const override {
    return 2 * parts;  // sums are float64
  }
  void begin(const Layout& layout, std::size_t parts) override { sum_.emplace(layout, parts); }
  void add(const ClientUpdate& update, const std::vector<Score>& scores,
           const Column& factor) override {
    sum_->add(update, scores, factor);
  }
  std::optional<Combined> combine(const std::vector<double>& shares) override {
    return sum_->combine(shares);
  }
  Column weights(std::size_t, const std::vector<Score>& scores,
                 const std::vector<double>& shares) const override {
    return sum_->weights(scores, shares);
  }

 private:
  std::optional<UpdateSum> sum_;
};

FEDVG_REGISTER(Combiner, "mean", Mean, NoOptions, "the weighted mean of the updates");

}  // namespace
}  // namespace fedvg
