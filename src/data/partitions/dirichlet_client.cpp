// Dirichlet by client (Hsu et al., 2019, arXiv 1909.06335, section 3, with an even prior; so
// divide the authors of FedDyn, Acar et al., 2021, arXiv 2111.04263): sizes are even, each
// client's classes are not.
//
//   n_k = n / clients, the first n % clients get one more
//   q_k ~ Dirichlet(alpha, …, alpha) over the classes
//   sample by sample, in a random order of all clients' places: client k draws class c with
//   probability q_kc / sum of q_kj over the classes j that still have samples
//
// q_kc ~ exp(g_kc) with g the logarithms of Gamma(alpha) variates, always taken relative to the
// largest among the classes that still have samples: the sum is at least 1, however small alpha.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

struct DirichletClientOptions {
  double alpha = 0.1;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("alpha", &DirichletClientOptions::alpha, between(kLeastAlpha, 1e9),
          "concentration: small = few classes a client, 100 = nearly even; at least "
          "1e-6");
  }
};

// What a client draws its classes from.
class Mixture {
 public:
  Mixture(double alpha, std::size_t classes, Random& random) : logarithms_(classes) {
    for (double& g : logarithms_) g = random.log_gamma_variate(alpha);
  }

  // One of the classes in `left` that are not empty, of which there are `open`.
  std::size_t draw(const std::vector<IndexList>& left, std::size_t open, Random& random) {
    if (open != open_) renormalize(left, open);
    const double at = random.uniform() * sums_.back();
    const auto chosen = std::upper_bound(sums_.begin(), sums_.end(), at);
    return static_cast<std::size_t>(chosen - sums_.begin());
  }

 private:
  void renormalize(const std::vector<IndexList>& left, std::size_t open) {
    double largest = std::numeric_limits<double>::lowest();
    for (std::size_t c = 0; c < left.size(); ++c) {
      if (!left[c].empty()) largest = std::max(largest, logarithms_[c]);
    }
    sums_.clear();
    double sum = 0;
    for (std::size_t c = 0; c < left.size(); ++c) {
      sums_.push_back(sum += left[c].empty() ? 0.0 : std::exp(logarithms_[c] - largest));
    }
    open_ = open;
  }

  std::vector<double> logarithms_;
  std::vector<double> sums_;  // running, of the classes that still had samples
  std::size_t open_ = 0;      // how many those were
};

// The client of each sample: client k as often as it gets samples, shuffled.
std::vector<std::size_t> places(std::size_t clients, std::size_t samples, Random& random) {
  std::vector<std::size_t> owners(samples);
  for (std::size_t i = 0; i < samples; ++i) owners[i] = i % clients;
  random.shuffle(std::span(owners));
  return owners;
}

class DirichletClient final : public Partitioner {
 public:
  explicit DirichletClient(const DirichletClientOptions& options) : options_(options) {}

  Partition draw(const PartitionRequest& request) const override {
    Random random(request.seed, "partition");
    const std::string scheme = "dirichlet-client, alpha = " + Value(options_.alpha).text();
    return draw_with_minimum(request, scheme, [&] { return draw_once(request, random); });
  }

 private:
  std::vector<IndexList> draw_once(const PartitionRequest& request, Random& random) const {
    auto left = by_class(request.available, request.labels, request.classes);
    std::size_t open = 0;
    for (IndexList& samples : left) {
      random.shuffle(std::span(samples));
      if (!samples.empty()) ++open;
    }
    std::vector<IndexList> clients(static_cast<std::size_t>(request.clients));
    std::vector<Mixture> mixtures;
    mixtures.reserve(clients.size());
    for (std::size_t k = 0; k < clients.size(); ++k) {
      mixtures.emplace_back(options_.alpha, left.size(), random);
    }
    for (const std::size_t k : places(clients.size(), request.available.size(), random)) {
      IndexList& samples = left[mixtures[k].draw(left, open, random)];
      clients[k].push_back(samples.back());
      samples.pop_back();
      if (samples.empty()) --open;
    }
    return clients;
  }

  DirichletClientOptions options_;
};

FEDVG_REGISTER(Partitioner, "dirichlet-client", DirichletClient, DirichletClientOptions,
               "each client draws its classes from Dirichlet proportions of its own: even sizes");

}  // namespace
}  // namespace fedvg
