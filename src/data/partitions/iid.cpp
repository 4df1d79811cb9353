// Independent and identically distributed: shuffled, then dealt out so that sizes differ
// by at most one; the first clients have one more.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/minimum.h"
#include "fedvg/partition.h"
#include "fedvg/random.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

class Iid final : public Partitioner {
 public:
  explicit Iid(const NoOptions&) {}

  Partition draw(const PartitionRequest& request) const override {
    Random random(request.seed, "partition");
    return draw_with_minimum(request, "iid", [&] {
      IndexList samples = request.available;
      random.shuffle(std::span(samples));
      const std::int64_t each = std::ssize(samples) / request.clients;
      const std::int64_t one_more = std::ssize(samples) % request.clients;
      std::vector<IndexList> clients;
      auto from = samples.begin();
      for (std::int64_t k = 0; k < request.clients; ++k) {
        const auto to = from + each + (k < one_more ? 1 : 0);
        clients.emplace_back(from, to);
        from = to;
      }
      return clients;
    });
  }
};

FEDVG_REGISTER(Partitioner, "iid", Iid, NoOptions, "shuffled and dealt out evenly");

}  // namespace
}  // namespace fedvg
