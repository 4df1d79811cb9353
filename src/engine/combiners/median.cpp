// The median number by number, the mean of the two middle ones for an even number of
// updates (Yin et al., 2018, arXiv 1803.01498).

#include <ATen/ops/sort.h>

#include "engine/combiners/kept_updates.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

class Median final : public KeptUpdates {
 public:
  explicit Median(const NoOptions&) {}

 protected:
  at::Tensor reduce(const at::Tensor& rows) const override {
    const at::Tensor sorted = std::get<0>(at::sort(rows, 0));
    const std::int64_t count = rows.size(0);
    return sorted[(count - 1) / 2].add(sorted[count / 2]).div(2);
  }
};

FEDVG_REGISTER(Combiner, "median", Median, NoOptions,
               "the median of the updates, number by number");

}  // namespace
}  // namespace fedvg
