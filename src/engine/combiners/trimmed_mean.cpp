// The mean number by number without the floor(trim K) largest and as many smallest (Yin et
// al., 2018, arXiv 1803.01498).

#include <ATen/ops/sort.h>

#include <cmath>

#include "engine/combiners/kept_updates.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct TrimmedMeanOptions {
  double trim = 0.1;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("trim", &TrimmedMeanOptions::trim, from_below(0, 0.5),
          "share of the updates left out at either end");
  }
};

class TrimmedMean final : public KeptUpdates {
 public:
  explicit TrimmedMean(const TrimmedMeanOptions& options) : options_(options) {}

  void check(std::int64_t participants) const override {
    if (options_.trim == 0 || left_out(participants) > 0) return;
    throw OptionError("combiner trimmed-mean: of " + std::to_string(participants) +
                      " participants a trim of " + Value(options_.trim).text() +
                      " leaves nobody out; take more participants or a larger trim");
  }

 protected:
  at::Tensor reduce(const at::Tensor& rows) const override {
    const std::int64_t out = left_out(rows.size(0));
    return std::get<0>(at::sort(rows, 0)).narrow(0, out, rows.size(0) - 2 * out).mean(0);
  }

 private:
  std::int64_t left_out(std::int64_t count) const {
    return static_cast<std::int64_t>(std::floor(options_.trim * static_cast<double>(count) + 1e-9));
  }
  TrimmedMeanOptions options_;
};

FEDVG_REGISTER(Combiner, "trimmed-mean", TrimmedMean, TrimmedMeanOptions,
               "the mean without the largest and smallest numbers");

}  // namespace
}  // namespace fedvg
