// FedNova (Wang et al., 2020, arXiv 2007.07481)
//
//   d = (sum_k W_k a_k) sum_k W_k Delta_k / a_k
//
// a_k is how far the client's local steps go under a constant gradient of 1: tau_k for
// plain SGD, sum_{i=1..tau} (1 - rho^i) / (1 - rho) with momentum rho.

#include <algorithm>

#include "algorithms/corrections/path.h"
#include "fedvg/correction.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

class FedNova final : public Correction {
 public:
  explicit FedNova(const NoOptions&) {}

  bool corrects_gradients() const override { return false; }
  Folding folding() const override { return Folding::always; }

  void check(const LocalOptimizer& optimizer, bool kept) const override {
    require_path_length(optimizer, kept, "fednova", "it divides by the length of the local path");
  }
  bool needs_weights() const override { return true; }

  Column factor(const ClientUpdate& update) const override { return {1 / update.path}; }

  Column columns(const Round& round, const std::vector<Column>& weights) const override {
    std::size_t width = 1;
    for (const auto& row : weights) width = std::max(width, row.size());
    Column mean(width, 0);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      for (std::size_t l = 0; l < width; ++l) {
        mean[l] += column_at(weights[k], l) / round.receipts[k].factor[0];
      }
    }
    return mean;
  }
};

FEDVG_REGISTER(Correction, "fednova", FedNova, NoOptions,
               "updates count by direction, not by how many local steps made them");
FEDVG_METHOD((Method{.name = "fednova", .correction = {"fednova", {}}}),
             "normalised averaging: clients with more local steps do not pull harder");

}  // namespace
}  // namespace fedvg
