// LeNet-5 (LeCun et al., 1998) as it is used today: ReLU instead of tanh, max instead of mean
// pooling, every second map connected to every first one. conv 5x5 to 6, pool 2, conv 5x5 to
// 16, pool 2, fc 120, fc 84, fc classes. The first convolution pads images below 32x32 by 2,
// so that 28x28 and 32x32 both leave the second pool as 5x5.

#include "fedvg/registry.h"
#include "models/network.h"

namespace fedvg {
namespace {

class Lenet5 final : public ModelBuilder {
 public:
  explicit Lenet5(const NoOptions&) {}

  std::unique_ptr<Model> build(const ModelInput& input) const override {
    constexpr std::int64_t kKernel = 5, kFirst = 6, kSecond = 16, kLeast = 12, kUnpadded = 32;
    if (input.height < kLeast || input.width < kLeast) {
      throw OptionError("model.name: lenet5 needs images of at least 12x12, these are " +
                        std::to_string(input.height) + "x" + std::to_string(input.width) +
                        "; take model.name = \"mlp\", or resize them: data.resize = 28");
    }
    const std::int64_t padding = input.height < kUnpadded || input.width < kUnpadded ? 2 : 0;
    const auto pooled = [&](std::int64_t extent) {
      return ((extent + 2 * padding - kKernel + 1) / 2 - kKernel + 1) / 2;
    };
    auto network = std::make_unique<Network>();
    network->conv2d("conv1", input.channels, kFirst, kKernel, 1, padding).relu().max_pool(2);
    network->conv2d("conv2", kFirst, kSecond, kKernel).relu().max_pool(2).flatten();
    network->linear("fc1", kSecond * pooled(input.height) * pooled(input.width), 120).relu();
    network->linear("fc2", 120, 84).relu().linear("fc3", 84, input.classes);
    return network;
  }
};

FEDVG_REGISTER(ModelBuilder, "lenet5", Lenet5, NoOptions,
               "LeNet-5 with ReLU and max-pooling: two 5x5 convolutions, three dense layers");

}  // namespace
}  // namespace fedvg
