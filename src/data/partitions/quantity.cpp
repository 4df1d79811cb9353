// Quantity skew of NIID-Bench (Li et al., 2021, arXiv 2102.02079, "q ~ Dir(beta)"): sizes differ,
// classes do not.
//
//   q ~ Dirichlet(alpha, …, alpha) over the clients
//   client k gets the shuffled samples from round(n * sum_{j<k} q_j) on, n in all

#include <cstdint>
#include <string>
#include <vector>

#include "data/minimum.h"
#include "data/proportions.h"
#include "fedvg/partition.h"
#include "fedvg/random.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct QuantityOptions {
  double alpha = 0.1;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("alpha", &QuantityOptions::alpha, between(kLeastAlpha, 1e9),
          "concentration: small = very unequal sizes, 100 = nearly even; at least "
          "1e-6");
  }
};

class Quantity final : public Partitioner {
 public:
  explicit Quantity(const QuantityOptions& options) : options_(options) {}

  Partition draw(const PartitionRequest& request) const override {
    Random random(request.seed, "partition");
    IndexList samples = request.available;
    const std::string scheme = "quantity, alpha = " + Value(options_.alpha).text();
    return draw_with_minimum(request, scheme, [&] {
      random.shuffle(std::span(samples));
      std::vector<IndexList> clients;
      auto from = samples.begin();
      for (const std::int64_t cut :
           dirichlet_cuts(options_.alpha, static_cast<std::size_t>(request.clients),
                          std::ssize(samples), random)) {
        const auto to = samples.begin() + cut;
        clients.emplace_back(from, to);
        from = to;
      }
      return clients;
    });
  }

 private:
  QuantityOptions options_;
};

FEDVG_REGISTER(Partitioner, "quantity", Quantity, QuantityOptions,
               "sizes in Dirichlet proportions, classes alike");

}  // namespace
}  // namespace fedvg
