// Residual networks (He et al., 2016, arXiv 1512.03385) with torchvision's names, order and
// initial values: ResNet-18 and -34 of two 3x3 convolutions a block, ResNet-50 of 1x1, 3x3,
// 1x1 (the 3x3 has the stride: torchvision's v1.5). Norm layers keep their names, bn1, …,
// when they are GroupNorm.

#include <ATen/ops/max_pool2d.h>

#include <array>
#include <cmath>
#include <optional>

#include "fedvg/registry.h"
#include "models/layers.h"
#include "models/live_taps.h"

namespace fedvg {
namespace {

struct ResnetOptions {
  std::string norm = "batch";
  std::string stem = "imagenet";
  std::int64_t channels = 3;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("norm", &ResnetOptions::norm, OneOf{{"batch", "group"}},
          "BatchNorm, or GroupNorm of 32 groups");
    visit("stem", &ResnetOptions::stem, OneOf{{"imagenet", "cifar"}},
          "imagenet: 7x7 convolution of stride 2 and max-pooling; cifar, for small images: 3x3, "
          "stride 1, no pooling");
    visit("channels", &ResnetOptions::channels, at_least(1),
          "of the images; gray ones are repeated to 3");
  }
};

struct Depth {
  std::array<int, 4> blocks;  ///< of layer1 to layer4
  bool bottleneck;
};

constexpr std::int64_t kStemWidth = 64;
constexpr std::int64_t kPool = 3;       // of stride 2, padding 1
constexpr std::int64_t kExpansion = 4;  // of a bottleneck: width out of it / width inside

std::unique_ptr<Norm> norm_layer(TensorList& tensors, const std::string& name,
                                 std::int64_t features, const ResnetOptions& options) {
  constexpr std::int64_t kGroups = 32;
  if (options.norm == "group") {
    return std::make_unique<GroupNorm>(tensors, name, kGroups, features);
  }
  return std::make_unique<BatchNorm>(tensors, name, features);
}

struct ResidualBlock {
  std::vector<Conv2d> convolutions;
  std::vector<std::unique_ptr<Norm>> norms;
  std::optional<Conv2d> shortcut;  ///< where the shape changes
  std::unique_ptr<Norm> shortcut_norm;

  at::Tensor forward(const at::Tensor& x, Mode mode) {
    const at::Tensor beside =
        shortcut ? shortcut_norm->forward(shortcut->forward(x, mode), mode) : x;
    at::Tensor y = x;
    for (std::size_t i = 0; i < convolutions.size(); ++i) {
      const bool last = i + 1 == convolutions.size();
      y = norms[i]->apply(convolutions[i].forward(y, mode),
                          last ? std::optional<at::Tensor>(beside) : std::nullopt, /*relu=*/true,
                          mode);
    }
    return y;
  }

  void crop(LiveTapsWalk& walk) {
    if (shortcut) {
      LiveTapsWalk::Branch beside(walk);
      shortcut->crop(walk);
    }
    for (auto& convolution : convolutions) convolution.crop(walk);
  }
};

ResidualBlock residual_block(TensorList& tensors, const std::string& name, std::int64_t in,
                             std::int64_t width, std::int64_t stride, bool bottleneck,
                             const ResnetOptions& options) {
  ResidualBlock block;
  const std::int64_t out = bottleneck ? width * kExpansion : width;
  const auto add = [&](const Conv2dShape& shape) {
    const std::string number = std::to_string(block.convolutions.size() + 1);
    block.convolutions.emplace_back(tensors, name + ".conv" + number, shape);
    block.norms.push_back(norm_layer(tensors, name + ".bn" + number, shape.out, options));
  };
  if (bottleneck) add({.in = in, .out = width, .kernel = 1, .bias = false});
  add({.in = bottleneck ? width : in,
       .out = width,
       .kernel = 3,
       .stride = stride,
       .padding = 1,
       .bias = false});
  if (bottleneck) {
    add({.in = width, .out = out, .kernel = 1, .bias = false});
  } else {
    add({.in = width, .out = out, .kernel = 3, .padding = 1, .bias = false});
  }
  if (stride != 1 || in != out) {
    block.shortcut.emplace(
        tensors, name + ".downsample.0",
        Conv2dShape{.in = in, .out = out, .kernel = 1, .stride = stride, .bias = false});
    block.shortcut_norm = norm_layer(tensors, name + ".downsample.1", out, options);
  }
  return block;
}

class Resnet final : public Model {
 public:
  Resnet(const Depth& depth, const ResnetOptions& options, std::int64_t classes)
      : pools_(options.stem == "imagenet"), channels_(options.channels) {
    groups_statistics_ = options.norm == "batch";
    TensorList tensors(parameters_, buffers_, &statistics_group_);
    tensors.set_block("stem");
    Conv2dShape stem{.in = channels_, .out = kStemWidth, .kernel = 7, .stride = 2, .padding = 3};
    if (!pools_) {
      stem = {.in = channels_, .out = kStemWidth, .kernel = 3, .stride = 1, .padding = 1};
    }
    stem.bias = false;
    stem_.emplace(tensors, "conv1", stem);
    stem_norm_ = norm_layer(tensors, "bn1", kStemWidth, options);
    std::int64_t in = kStemWidth, width = kStemWidth;
    for (std::size_t layer = 0; layer < depth.blocks.size(); ++layer, width *= 2) {
      const std::string name = "layer" + std::to_string(layer + 1);
      tensors.set_block(name);
      for (int i = 0; i < depth.blocks[layer]; ++i) {
        const std::int64_t stride = layer > 0 && i == 0 ? 2 : 1;
        blocks_.push_back(residual_block(tensors, name + "." + std::to_string(i), in, width, stride,
                                         depth.bottleneck, options));
        in = depth.bottleneck ? width * kExpansion : width;
      }
    }
    tensors.set_block("head");
    classifier_.emplace(tensors, "fc", in, classes);
  }

  Output forward(const at::Tensor& images, Mode mode) override {
    at::Tensor x = stem_norm_->apply(stem_->forward(images, mode), {}, /*relu=*/true, mode);
    if (pools_) x = at::max_pool2d(x, kPool, 2, 1);
    for (auto& block : blocks_) x = block.forward(x, mode);
    Output output;
    output.features = x.mean({2, 3});
    output.logits = classifier_->forward(output.features, mode);
    return output;
  }

  std::vector<LiveTaps> crop_to_live_taps(const ModelInput& input) override {
    LiveTapsWalk walk(parameters_, input);
    stem_->crop(walk);
    if (pools_) walk.pool(kPool, 2, 1);
    for (auto& block : blocks_) block.crop(walk);
    return walk.cropped();
  }

  // libtorch reorders the weights of small maps at each call when they lie as channels_last.
  bool channels_last(bool plain) const override { return !plain; }
  std::int64_t input_channels() const override { return channels_; }
  std::string head() const override { return "fc"; }

  // torchvision's: convolutions normal with variance 2 / fan-out.
  void initialize(Random& random) override {
    const auto convolution = [&](const Conv2d& layer) {
      const auto& weight = layer.weight;
      const auto fan_out = static_cast<double>(weight.numel() / weight.size(1));
      fill_normal(weight, std::sqrt(2 / fan_out), random);
    };
    convolution(*stem_);
    stem_norm_->initialize(random);
    for (auto& block : blocks_) {
      for (std::size_t i = 0; i < block.convolutions.size(); ++i) {
        convolution(block.convolutions[i]);
        block.norms[i]->initialize(random);
      }
      if (!block.shortcut) continue;
      convolution(*block.shortcut);
      block.shortcut_norm->initialize(random);
    }
    classifier_->initialize(random);
  }

 private:
  bool pools_;
  std::int64_t channels_;
  std::optional<Conv2d> stem_;
  std::unique_ptr<Norm> stem_norm_;
  std::vector<ResidualBlock> blocks_;
  std::optional<Linear> classifier_;
};

constexpr Depth kDepth18{{2, 2, 2, 2}, false};
constexpr Depth kDepth34{{3, 4, 6, 3}, false};
constexpr Depth kDepth50{{3, 4, 6, 3}, true};

template <const Depth& depth>
class ResnetBuilder final : public ModelBuilder {
 public:
  explicit ResnetBuilder(const ResnetOptions& options) : options_(options) {}

  std::unique_ptr<Model> build(const ModelInput& input) const override {
    constexpr std::int64_t kLeast = 8;  // below, whole layers see nothing but padding
    if (input.height < kLeast || input.width < kLeast) {
      throw OptionError("model.name: a resnet needs images of at least 8x8, these are " +
                        std::to_string(input.height) + "x" + std::to_string(input.width) +
                        "; take model.name = \"mlp\", or resize them: data.resize = 32");
    }
    return std::make_unique<Resnet>(depth, options_, input.classes);
  }

 private:
  ResnetOptions options_;
};

FEDVG_REGISTER(ModelBuilder, "resnet18", ResnetBuilder<kDepth18>, ResnetOptions,
               "ResNet-18, as torchvision's");
FEDVG_REGISTER(ModelBuilder, "resnet34", ResnetBuilder<kDepth34>, ResnetOptions,
               "ResNet-34, as torchvision's");
FEDVG_REGISTER(ModelBuilder, "resnet50", ResnetBuilder<kDepth50>, ResnetOptions,
               "ResNet-50, as torchvision's (v1.5)");

}  // namespace
}  // namespace fedvg
