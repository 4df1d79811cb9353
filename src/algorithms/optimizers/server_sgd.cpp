// The combined step, scaled: w += lr * d.

#include "fedvg/registry.h"
#include "fedvg/server_optimizer.h"

namespace fedvg {
namespace {

struct ServerSgdOptions {
  double lr = 1;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("lr", &ServerSgdOptions::lr, at_least(0), "server learning rate");
  }
};

class ServerSgd final : public ServerOptimizer {
 public:
  explicit ServerSgd(const ServerSgdOptions& options) : options_(options) {}
  void step(at::Tensor& w, const at::Tensor& d) override { w.add_(d, options_.lr); }

 private:
  ServerSgdOptions options_;
};

FEDVG_REGISTER(ServerOptimizer, "sgd", ServerSgd, ServerSgdOptions, "w += lr * d");

}  // namespace
}  // namespace fedvg
