// Dirichlet by class (Yurochkin et al., 2019, arXiv 1905.12022; Hsu et al., 2019, arXiv
// 1909.06335), with the balancing of NIID-Bench (Li et al., 2021, arXiv 2102.02079) that most
// simulators took over: who has its even share gets no further class. Class by class:
//
//   p ~ Dirichlet(alpha, …, alpha) over the clients that hold less than available / clients
//   client k gets the class's shuffled samples from round(m * sum_{j<k} p_j) on, m in all

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/minimum.h"
#include "data/proportions.h"
#include "data/stratify.h"
#include "fedvg/partition.h"
#include "fedvg/random.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct DirichletOptions {
  double alpha = 0.1;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit(
        "alpha", &DirichletOptions::alpha, between(kLeastAlpha, 1e9),
        "concentration: small = few classes and very unequal clients, 100 = nearly even; at least "
        "1e-6");
  }
};

// Clients that may still receive: at least one as long as a sample is left.
std::vector<std::size_t> unfilled(const std::vector<IndexList>& clients, std::size_t available) {
  std::vector<std::size_t> open;
  for (std::size_t k = 0; k < clients.size(); ++k) {
    if (clients[k].size() * clients.size() < available) open.push_back(k);
  }
  return open;
}

class Dirichlet final : public Partitioner {
 public:
  explicit Dirichlet(const DirichletOptions& options) : options_(options) {}

  Partition draw(const PartitionRequest& request) const override {
    Random random(request.seed, "partition");
    auto classes = by_class(request.available, request.labels, request.classes);
    const std::string scheme = "dirichlet, alpha = " + Value(options_.alpha).text();
    return draw_with_minimum(request, scheme, [&] { return draw_once(request, classes, random); });
  }

 private:
  std::vector<IndexList> draw_once(const PartitionRequest& request, std::vector<IndexList>& classes,
                                   Random& random) const {
    std::vector<IndexList> clients(static_cast<std::size_t>(request.clients));
    for (IndexList& samples : classes) {
      if (samples.empty()) continue;
      random.shuffle(std::span(samples));
      const auto open = unfilled(clients, request.available.size());
      const auto cuts = dirichlet_cuts(options_.alpha, open.size(), std::ssize(samples), random);
      std::int64_t from = 0;
      for (std::size_t i = 0; i < open.size(); ++i) {
        IndexList& client = clients[open[i]];
        client.insert(client.end(), samples.begin() + from, samples.begin() + cuts[i]);
        from = cuts[i];
      }
    }
    return clients;
  }

  DirichletOptions options_;
};

FEDVG_REGISTER(Partitioner, "dirichlet", Dirichlet, DirichletOptions,
               "each class divided by Dirichlet proportions: skewed classes and sizes");

}  // namespace
}  // namespace fedvg
