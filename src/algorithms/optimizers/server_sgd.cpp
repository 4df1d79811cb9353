// The combined step, scaled, with momentum (FedAvgM, Hsu et al., 2019, arXiv 1909.06335):
//
//   v <- momentum v + d
//   w += lr (d + momentum v)     nesterov; else w += lr v

#include "fedvg/method.h"
#include "fedvg/registry.h"
#include "fedvg/server_optimizer.h"

namespace fedvg {
namespace {

struct ServerSgdOptions {
  double lr = 1;
  double momentum = 0;
  bool nesterov = true;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("lr", &ServerSgdOptions::lr, at_least(0), "server learning rate");
    visit("momentum", &ServerSgdOptions::momentum, from_below(0, 1), "share of the last velocity");
    visit("nesterov", &ServerSgdOptions::nesterov, "look ahead along the velocity, if any");
  }
};

class ServerSgd final : public ServerOptimizer {
 public:
  explicit ServerSgd(const ServerSgdOptions& options) : options_(options) {}

  Folding folding() const override { return Folding::always; }
  void step(at::Tensor& w, const at::Tensor& d) override {
    if (options_.momentum == 0) {
      w.add_(d, options_.lr);
      return;
    }
    velocity_ = velocity_.defined() ? velocity_.mul(options_.momentum).add(d) : d.clone();
    if (options_.nesterov) {
      w.add_(d.add(velocity_, options_.momentum), options_.lr);
    } else {
      w.add_(velocity_, options_.lr);
    }
  }

  TensorMap state() const override {
    return velocity_.defined() ? TensorMap{{"velocity", velocity_}} : TensorMap{};
  }
  void restore(const TensorMap& state) override {
    const auto found = state.find("velocity");
    velocity_ = found == state.end() ? at::Tensor() : found->second;
  }

 private:
  ServerSgdOptions options_;
  at::Tensor velocity_;  // float64, [P]
};

FEDVG_REGISTER(ServerOptimizer, "sgd", ServerSgd, ServerSgdOptions,
               "w += lr * d, with momentum on request");
FEDVG_METHOD((Method{.name = "fedavgm",
                     .server = {"sgd",
                                [] {
                                  Table options;
                                  options.set("momentum", 0.9);
                                  return options;
                                }()}}),
             "FedAvg with server momentum");

}  // namespace
}  // namespace fedvg
