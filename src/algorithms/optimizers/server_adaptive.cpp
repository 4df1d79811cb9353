// FedAdam, FedYogi and FedAdagrad (Reddi et al., 2021, arXiv 2003.00295)
//
//   m <- beta1 m + (1 - beta1) d
//   v <- beta2 v + (1 - beta2) d^2                    adam
//   v <- v - (1 - beta2) d^2 sign(v - d^2)            yogi
//   v <- v + d^2                                      adagrad
//   w += lr m / (sqrt(v) + tau)
//
// m and v start at 0; no bias correction.

#include <ATen/ops/zeros_like.h>

#include "fedvg/method.h"
#include "fedvg/registry.h"
#include "fedvg/server_optimizer.h"

namespace fedvg {
namespace {

/// `decays`: v forgets, at beta2; Adagrad's only grows.
template <bool decays>
struct AdaptiveOptions {
  double lr = 0.1;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double tau = 1e-3;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("lr", &AdaptiveOptions::lr, at_least(0), "server learning rate");
    visit("beta1", &AdaptiveOptions::beta1, from_below(0, 1), "decay of the mean step m");
    if constexpr (decays) {
      visit("beta2", &AdaptiveOptions::beta2, from_below(0, 1), "decay of the mean square v");
    }
    visit("tau", &AdaptiveOptions::tau, above(0), "added to sqrt(v): degree of adaptivity");
  }
};

using AdamOptions = AdaptiveOptions<true>;
using AdagradOptions = AdaptiveOptions<false>;

/// What the three share; they differ in how v grows.
template <class Options>
class Adaptive : public ServerOptimizer {
 public:
  explicit Adaptive(const Options& options) : options_(options) {}

  Folding folding() const override { return Folding::at_rest; }  // d / sqrt(v) is not linear
  void step(at::Tensor& w, const at::Tensor& d) override {
    if (!m_.defined()) {
      m_ = at::zeros_like(d);
      v_ = at::zeros_like(d);
    }
    m_ = m_.mul(options_.beta1).add(d, 1 - options_.beta1);
    v_ = second_moment(v_, d.mul(d));
    w.add_(m_.div(v_.sqrt().add(options_.tau)), options_.lr);
  }

  TensorMap state() const override {
    return m_.defined() ? TensorMap{{"m", m_}, {"v", v_}} : TensorMap{};
  }
  void restore(const TensorMap& state) override {
    const auto m = state.find("m"), v = state.find("v");
    m_ = m == state.end() ? at::Tensor() : m->second;
    v_ = v == state.end() ? at::Tensor() : v->second;
  }

 protected:
  virtual at::Tensor second_moment(const at::Tensor& v, const at::Tensor& square) const = 0;
  Options options_;

 private:
  at::Tensor m_, v_;  // float64, [P]
};

class ServerAdam final : public Adaptive<AdamOptions> {
 public:
  using Adaptive::Adaptive;
  at::Tensor second_moment(const at::Tensor& v, const at::Tensor& square) const override {
    return v.mul(options_.beta2).add(square, 1 - options_.beta2);
  }
};

class ServerYogi final : public Adaptive<AdamOptions> {
 public:
  using Adaptive::Adaptive;
  at::Tensor second_moment(const at::Tensor& v, const at::Tensor& square) const override {
    return v.sub(square.mul(v.sub(square).sign()), 1 - options_.beta2);
  }
};

class ServerAdagrad final : public Adaptive<AdagradOptions> {
 public:
  using Adaptive::Adaptive;
  at::Tensor second_moment(const at::Tensor& v, const at::Tensor& square) const override {
    return v.add(square);
  }
};

FEDVG_REGISTER(ServerOptimizer, "adam", ServerAdam, AdamOptions, "Adam on the combined step");
FEDVG_REGISTER(ServerOptimizer, "yogi", ServerYogi, AdamOptions, "Yogi on the combined step");
FEDVG_REGISTER(ServerOptimizer, "adagrad", ServerAdagrad, AdagradOptions,
               "Adagrad on the combined step");
FEDVG_METHOD((Method{.name = "fedadam", .server = {"adam", {}}}), "FedAvg with Adam on the server");
FEDVG_METHOD((Method{.name = "fedyogi", .server = {"yogi", {}}}), "FedAvg with Yogi on the server");
FEDVG_METHOD((Method{.name = "fedadagrad", .server = {"adagrad", {}}}),
             "FedAvg with Adagrad on the server");

}  // namespace
}  // namespace fedvg
