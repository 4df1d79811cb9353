// The small convolutional network of the federated literature (McMahan et al., 2017):
// conv 5x5 to 32, ReLU, pool 2, conv 5x5 to 64, ReLU, pool 2, fc 512, ReLU, fc classes.
// No padding: 28x28 images leave the second pool as 4x4, 32x32 as 5x5.

#include "fedvg/registry.h"
#include "models/network.h"

namespace fedvg {
namespace {

struct CnnOptions {
  std::string norm = "none";

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("norm", &CnnOptions::norm, OneOf{{"none", "batch"}},
          "normalisation between each convolution and its ReLU");
  }
};

class Cnn final : public ModelBuilder {
 public:
  explicit Cnn(const CnnOptions& options) : options_(options) {}

  std::unique_ptr<Model> build(const ModelInput& input) const override {
    constexpr std::int64_t kKernel = 5, kFirst = 32, kSecond = 64, kHidden = 512;
    const auto pooled = [](std::int64_t extent) { return (extent - kKernel + 1) / 2; };
    const auto height = pooled(pooled(input.height)), width = pooled(pooled(input.width));
    if (input.height < 16 || input.width < 16 || height < 1 || width < 1) {
      throw OptionError("model.name: cnn needs images of at least 16x16, these are " +
                        std::to_string(input.height) + "x" + std::to_string(input.width) +
                        "; take model.name = \"mlp\"");
    }
    auto network = std::make_unique<Network>();
    const bool batch_norm = options_.norm == "batch";
    const auto stage = [&](const std::string& number, std::int64_t in, std::int64_t out) {
      if (batch_norm) {
        network->conv2d("conv" + number, in, out, kKernel).batch_norm("bn" + number, out);
        network->relu_max_pool();
      } else {
        network->conv2d_relu_max_pool("conv" + number, in, out, kKernel);
      }
    };
    stage("1", input.channels, kFirst);
    stage("2", kFirst, kSecond);
    network->flatten();
    network->linear("fc1", kSecond * height * width, kHidden).relu();
    network->linear("fc2", kHidden, input.classes);
    return network;
  }

 private:
  CnnOptions options_;
};

FEDVG_REGISTER(ModelBuilder, "cnn", Cnn, CnnOptions, "two 5x5 convolutions, two dense layers");

}  // namespace
}  // namespace fedvg
