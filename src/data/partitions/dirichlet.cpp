// Dirichlet by class (Yurochkin et al., 2019, arXiv 1905.12022; Hsu et al., 2019, arXiv
// 1909.06335), with the balancing of NIID-Bench (Li et al., 2021, arXiv 2102.02079) that most
// simulators took over: who has its even share gets no further class. Class by class:
//
//   p ~ Dirichlet(alpha, …, alpha) over the clients that hold less than available / clients
//   client k gets the class's shuffled samples from round(m * sum_{j<k} p_j) on, m in all
//
// p_k = exp(g_k - log sum_j exp(g_j)) with g the logarithms of Gamma(alpha) variates: for
// small alpha the variates themselves underflow and p would be 0 / 0.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/minimum.h"
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
    visit("alpha", &DirichletOptions::alpha, above_up_to(0, 1e9),
          "concentration: small = few classes and very unequal clients, 100 = nearly even");
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

// Running sums of unnormalised Dirichlet proportions, the largest of which is 1.
std::vector<double> running_proportions(double alpha, std::size_t count, Random& random) {
  std::vector<double> sums(count);
  for (double& g : sums) g = random.log_gamma_variate(alpha);
  const double largest = *std::max_element(sums.begin(), sums.end());
  double sum = 0;
  for (double& g : sums) g = sum += std::exp(g - largest);
  return sums;
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
      const auto sums = running_proportions(options_.alpha, open.size(), random);
      const double scale = static_cast<double>(samples.size()) / sums.back();
      std::int64_t from = 0;
      for (std::size_t i = 0; i < open.size(); ++i) {
        const std::int64_t to =
            i + 1 == open.size() ? std::ssize(samples) : std::llround(sums[i] * scale);
        IndexList& client = clients[open[i]];
        client.insert(client.end(), samples.begin() + from, samples.begin() + to);
        from = to;
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
