// Elastic aggregation (Chen et al., 2023, CVPR: "Elastic Aggregation for Federated
// Optimization")
//
//   Omega^l <- mu Omega^l + (1 - mu) || gradient of a probe batch's mean loss, tensor l ||_2^2
//   d^l *= 1 + tau - (sum_k W_k^l Omega_k^l) / max_k Omega_k^l
//
// Before training, at the global model in evaluation mode, over a probe of a share of the
// client's samples drawn anew each round; training uses the rest. The quotient is 1 where
// the maximum is 0; a client with an empty probe is left out of sum and maximum.

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>

#include "fedvg/correction.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct ElasticOptions {
  double sample_ratio = 0.3;
  double mu = 0.95;
  double tau = 0.5;
  bool accumulate = false;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("sample_ratio", &ElasticOptions::sample_ratio, from_below(0, 1),
          "share of a client's samples that probes the sensitivity instead of training");
    visit("mu", &ElasticOptions::mu, between(0, 1), "decay of the sensitivity over probe batches");
    visit("tau", &ElasticOptions::tau, at_least(0), "step of the least sensitive tensor, less 1");
    visit("accumulate", &ElasticOptions::accumulate,
          "let gradients pile up over the probe's batches, as the published reference does");
  }
};

class Elastic final : public Correction {
 public:
  explicit Elastic(const ElasticOptions& options) : options_(options) {}

  bool corrects_gradients() const override { return false; }
  Folding folding() const override { return Folding::always; }

  bool needs_weights() const override { return true; }

  void begin(LocalContext& context) const override {
    std::vector<double> omega(context.layout->tensors(), 0);
    bool first = true;
    const auto measure = [&](std::span<const std::int64_t> batch) {
      context.tools->gradient_of(batch, Mode::eval, options_.accumulate && !first);
      first = false;
      for (std::size_t l = 0; l < omega.size(); ++l) {
        const double norm = at::linalg_vector_norm(context.layout->segment(context.gradient, l), 2,
                                                   at::OptionalIntArrayRef{}, false, at::kDouble)
                                .item<double>();
        omega[l] = options_.mu * omega[l] + (1 - options_.mu) * norm * norm;
      }
    };
    if (!context.fixed_probe.empty()) {
      for (const auto& batch : context.fixed_probe) measure(batch);
    } else {
      const auto probe = draw_probe(context);
      const auto step = static_cast<std::size_t>(context.batch_size);
      for (std::size_t begin = 0; begin < probe.size(); begin += step) {
        measure(std::span(probe).subspan(begin, std::min(step, probe.size() - begin)));
      }
    }
    if (!first) context.scratch["omega"] = at::tensor(omega, at::kDouble);
  }

  void end(LocalContext& context, ClientUpdate& update) const override {
    const auto omega = context.scratch.find("omega");
    if (omega != context.scratch.end()) update.note["omega"] = omega->second;
  }

  Column columns(const Round& round, const std::vector<Column>& weights) const override {
    Column sum(round.layout.tensors(), 0), most(round.layout.tensors(), 0), zeta;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto omega = round.receipts[k].note.find("omega");
      if (omega == round.receipts[k].note.end()) continue;
      const auto* values = omega->second.data_ptr<double>();
      for (std::size_t l = 0; l < sum.size(); ++l) {
        sum[l] += column_at(weights[k], l) * values[l];
        most[l] = std::max(most[l], values[l]);
      }
    }
    for (std::size_t l = 0; l < sum.size(); ++l) {
      zeta.push_back(1 + options_.tau - (most[l] > 0 ? sum[l] / most[l] : 1));
    }
    return zeta;
  }

 private:
  /// Takes the probe's samples out of those that training uses.
  std::vector<std::int64_t> draw_probe(LocalContext& context) const {
    auto& samples = *context.samples;
    const auto count = static_cast<std::size_t>(
        std::floor(options_.sample_ratio * static_cast<double>(samples.size()) + 1e-9));
    std::vector<std::size_t> places(samples.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    context.random->shuffle(std::span(places));
    std::vector<char> taken(samples.size(), 0);
    std::vector<std::int64_t> probe, rest;
    for (std::size_t i = 0; i < count; ++i) {
      taken[places[i]] = 1;
      probe.push_back(samples[places[i]]);
    }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!taken[i]) rest.push_back(samples[i]);
    }
    samples = std::move(rest);
    return probe;
  }

  ElasticOptions options_;
};

FEDVG_REGISTER(Correction, "elastic", Elastic, ElasticOptions,
               "tensors to which the loss is sensitive move less");
FEDVG_METHOD((Method{.name = "elastic", .correction = {"elastic", {}}}),
             "elastic aggregation: the step shrinks where clients' losses are sensitive");

}  // namespace
}  // namespace fedvg
