// A perceptron of fully connected ReLU layers on flattened images; by default the 2NN of
// FedAvg's paper (McMahan et al., 2017, arXiv 1602.05629): two hidden layers of 200.

#include "fedvg/registry.h"
#include "models/network.h"

namespace fedvg {
namespace {

struct MlpOptions {
  std::vector<std::int64_t> hidden = {200, 200};

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("hidden", &MlpOptions::hidden, at_least(1), "units of each hidden layer");
  }
};

class Mlp final : public ModelBuilder {
 public:
  explicit Mlp(const MlpOptions& options) : options_(options) {}

  std::unique_ptr<Model> build(const ModelInput& input) const override {
    auto network = std::make_unique<Network>();
    network->flatten();
    std::int64_t width = input.channels * input.height * input.width;
    int number = 0;
    for (const auto units : options_.hidden) {
      network->linear("fc" + std::to_string(++number), width, units).relu();
      width = units;
    }
    network->linear("fc" + std::to_string(++number), width, input.classes);
    return network;
  }

 private:
  MlpOptions options_;
};

FEDVG_REGISTER(ModelBuilder, "mlp", Mlp, MlpOptions, "fully connected ReLU layers");

}  // namespace
}  // namespace fedvg
