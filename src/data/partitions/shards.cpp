// Shards (McMahan et al., 2017, arXiv 1602.05629, "pathological non-IID"): sorted by label, cut
// into clients * shards_per_client shards, dealt at random.
//
//   shard s = the sorted samples from floor(n s / S) up to floor(n (s + 1) / S), S shards of n
//   samples: sizes differ by at most one. Within a label the order is drawn.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "data/minimum.h"
#include "data/stratify.h"
#include "fedvg/error.h"
#include "fedvg/partition.h"
#include "fedvg/random.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct ShardsOptions {
  std::int64_t shards_per_client = 2;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("shards_per_client", &ShardsOptions::shards_per_client, between(1, 1'000'000),
          "shards of the samples sorted by label that each client gets");
  }
};

class Shards final : public Partitioner {
 public:
  explicit Shards(const ShardsOptions& options) : options_(options) {}

  Partition draw(const PartitionRequest& request) const override {
    const std::int64_t each = options_.shards_per_client;
    const std::int64_t shards = request.clients * each;
    if (shards > std::ssize(request.available)) {
      throw OptionError("partition.shards_per_client = " + std::to_string(each) + " for " +
                        std::to_string(request.clients) + " clients makes " +
                        std::to_string(shards) + " shards, but the clients have " +
                        std::to_string(request.available.size()) +
                        " samples to share; lower one of them");
    }
    Random random(request.seed, "partition");
    auto classes = by_class(request.available, request.labels, request.classes);
    const std::string scheme = "shards, shards_per_client = " + std::to_string(each);
    return draw_with_minimum(request, scheme, [&] {
      IndexList sorted;
      for (IndexList& samples : classes) {
        random.shuffle(std::span(samples));
        sorted.insert(sorted.end(), samples.begin(), samples.end());
      }
      return dealt(sorted, static_cast<std::size_t>(request.clients), shards, random);
    });
  }

 private:
  static std::vector<IndexList> dealt(const IndexList& sorted, std::size_t clients,
                                      std::int64_t shards, Random& random) {
    IndexList order(static_cast<std::size_t>(shards));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    random.shuffle(std::span(order));
    std::vector<IndexList> lists(clients);
    const std::int64_t all = std::ssize(sorted);
    for (std::size_t i = 0; i < order.size(); ++i) {
      IndexList& client = lists[i % clients];
      client.insert(client.end(), sorted.begin() + all * order[i] / shards,
                    sorted.begin() + all * (order[i] + 1) / shards);
    }
    return lists;
  }

  ShardsOptions options_;
};

FEDVG_REGISTER(Partitioner, "shards", Shards, ShardsOptions,
               "sorted by label, cut into shards, dealt at random: few classes a client");

}  // namespace
}  // namespace fedvg
