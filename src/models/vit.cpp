// Vision transformers (Dosovitskiy et al., 2021, arXiv 2010.11929): ViT-B/16 with torchvision's
// names, order and initial values, ViT-S/16 with timm's. Pre-norm layers, exact GELU, learned
// positions, the class token's output before the head as features. No dropout.

#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fedvg/registry.h"
#include "models/layers.h"

namespace fedvg {
namespace {

constexpr double kLargest = 4096;  // side of an image, as data.resize has it

struct VitOptions {
  std::int64_t image_size = 0;
  std::int64_t patch = 16;
  std::int64_t channels = 3;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("image_size", &VitOptions::image_size, between(0, kLargest),
          "pixels of a side, a multiple of patch; 0: the data's");
    visit("patch", &VitOptions::patch, between(1, kLargest), "pixels of a patch's side");
    visit("channels", &VitOptions::channels, at_least(1),
          "of the images; gray ones are repeated to 3");
  }
};

/// What one library calls the tensors, and how it draws them.
struct Convention {
  const char *token, *positions, *patches, *layers, *block, *norm, *head;
  // Of a layer.
  const char *norm1, *qkv_weight, *qkv_bias, *projection, *norm2, *hidden, *out;
  bool positions_last;  ///< the embedding of positions stands after that of patches
  bool is_timm;
};

constexpr Convention kTorchvision{.token = "class_token",
                                  .positions = "encoder.pos_embedding",
                                  .patches = "conv_proj",
                                  .layers = "encoder.layers.encoder_layer_",
                                  .block = "encoder_layer_",
                                  .norm = "encoder.ln",
                                  .head = "heads.head",
                                  .norm1 = "ln_1",
                                  .qkv_weight = "self_attention.in_proj_weight",
                                  .qkv_bias = "self_attention.in_proj_bias",
                                  .projection = "self_attention.out_proj",
                                  .norm2 = "ln_2",
                                  .hidden = "mlp.0",
                                  .out = "mlp.3",
                                  .positions_last = true,
                                  .is_timm = false};
constexpr Convention kTimm{.token = "cls_token",
                           .positions = "pos_embed",
                           .patches = "patch_embed.proj",
                           .layers = "blocks.",
                           .block = "blocks.",
                           .norm = "norm",
                           .head = "head",
                           .norm1 = "norm1",
                           .qkv_weight = "attn.qkv.weight",
                           .qkv_bias = "attn.qkv.bias",
                           .projection = "attn.proj",
                           .norm2 = "norm2",
                           .hidden = "mlp.fc1",
                           .out = "mlp.fc2",
                           .positions_last = false,
                           .is_timm = true};

struct Size {
  std::int64_t width, layers, heads;
  const Convention& convention;
};
constexpr std::int64_t kHiddenFactor = 4;
constexpr Size kBase{768, 12, 12, kTorchvision};
constexpr Size kSmall{384, 12, 6, kTimm};

struct EncoderLayer {
  LayerNorm norm1;
  Linear qkv, projection;
  LayerNorm norm2;
  Linear hidden, out;
  std::int64_t heads;

  // The braces keep the order: it is the model's.
  static EncoderLayer make(TensorList& tensors, const std::string& name, const Size& size) {
    const Convention& convention = size.convention;
    const std::int64_t width = size.width, inner = width * kHiddenFactor;
    const auto named = [&](const char* rest) { return name + "." + rest; };
    return {LayerNorm(tensors, named(convention.norm1), width),
            qkv_of(tensors, named(convention.qkv_weight), named(convention.qkv_bias), width),
            Linear(tensors, named(convention.projection), width, width),
            LayerNorm(tensors, named(convention.norm2), width),
            Linear(tensors, named(convention.hidden), width, inner),
            Linear(tensors, named(convention.out), inner, width),
            size.heads};
  }

  static Linear qkv_of(TensorList& tensors, const std::string& weight, const std::string& bias,
                       std::int64_t width) {
    at::Tensor w = tensors.parameter(weight, {3 * width, width});
    return {std::move(w), tensors.parameter(bias, {3 * width})};
  }

  at::Tensor attention(const at::Tensor& x, Mode mode) {
    const std::int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2);
    const auto parts = qkv.forward(x, mode)
                           .reshape({batch, tokens, 3, heads, width / heads})
                           .permute({2, 0, 3, 1, 4})
                           .unbind(0);
    const at::Tensor mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
    return projection.forward(mixed.transpose(1, 2).reshape({batch, tokens, width}), mode);
  }

  at::Tensor forward(const at::Tensor& x, Mode mode) {
    const at::Tensor y = x.add(attention(norm1.forward(x, mode), mode));
    const at::Tensor inner = at::gelu(hidden.forward(norm2.forward(y, mode), mode));
    return y.add(out.forward(inner, mode));
  }
};

// Glorot and Bengio's, 2010.
void fill_xavier(const at::Tensor& weight, Random& random) {
  fill_uniform(weight, std::sqrt(6.0 / static_cast<double>(weight.size(0) + weight.size(1))),
               random);
}

class Vit final : public Model {
 public:
  Vit(const Size& size, std::int64_t image_size, const VitOptions& options, std::int64_t classes)
      : convention_(size.convention), channels_(options.channels) {
    const std::int64_t patch = options.patch, side = image_size / patch;
    TensorList tensors(parameters_, buffers_);
    tensors.set_block("embedding");
    const auto add_positions = [&] {
      positions_ = tensors.parameter(convention_.positions, {1, side * side + 1, size.width});
    };
    token_ = tensors.parameter(convention_.token, {1, 1, size.width});
    if (!convention_.positions_last) add_positions();
    patches_.emplace(
        tensors, convention_.patches,
        Conv2dShape{.in = channels_, .out = size.width, .kernel = patch, .stride = patch});
    if (convention_.positions_last) add_positions();
    for (std::int64_t i = 0; i < size.layers; ++i) {
      const std::string number = std::to_string(i);
      tensors.set_block(convention_.block + number);
      layers_.push_back(EncoderLayer::make(tensors, convention_.layers + number, size));
    }
    tensors.set_block("head");
    norm_.emplace(tensors, convention_.norm, size.width);
    head_.emplace(tensors, convention_.head, size.width, classes);
  }

  Output forward(const at::Tensor& images, Mode mode) override {
    const at::Tensor patches = patches_->forward(images, mode).flatten(2).transpose(1, 2);
    const at::Tensor tokens = token_.expand({images.size(0), -1, -1});
    at::Tensor x = at::cat({tokens, patches}, 1).add(positions_);
    for (auto& layer : layers_) x = layer.forward(x, mode);
    Output output;
    output.features = norm_->forward(x.select(1, 0), mode);
    output.logits = head_->forward(output.features, mode);
    return output;
  }

  std::int64_t input_channels() const override { return channels_; }
  std::string head() const override { return convention_.head; }

  void initialize(Random& random) override {
    convention_.is_timm ? initialize_as_timm(random) : initialize_as_torchvision(random);
  }

 private:
  void initialize_as_torchvision(Random& random) {
    const at::Tensor& kernel = patches_->weight;
    const auto fan_in = static_cast<double>(kernel.numel() / kernel.size(0));
    fill_constant(token_, 0);
    fill_truncated_normal(kernel, std::sqrt(1 / fan_in), random);
    fill_constant(patches_->bias, 0);
    fill_normal(positions_, 0.02, random);
    for (auto& layer : layers_) {
      layer.norm1.initialize(random);
      fill_xavier(layer.qkv.weight, random);
      fill_constant(layer.qkv.bias, 0);
      layer.projection.initialize(random);
      fill_constant(layer.projection.bias, 0);
      layer.norm2.initialize(random);
      for (Linear* dense : {&layer.hidden, &layer.out}) {
        fill_xavier(dense->weight, random);
        fill_normal(dense->bias, 1e-6, random);
      }
    }
    norm_->initialize(random);
    fill_constant(head_->weight, 0);
    fill_constant(head_->bias, 0);
  }

  void initialize_as_timm(Random& random) {
    const auto dense = [&](const Linear& layer) {
      fill_truncated_normal(layer.weight, 0.02, random);
      fill_constant(layer.bias, 0);
    };
    fill_normal(token_, 1e-6, random);
    fill_truncated_normal(positions_, 0.02, random);
    patches_->initialize(random);
    for (auto& layer : layers_) {
      layer.norm1.initialize(random);
      dense(layer.qkv);
      dense(layer.projection);
      layer.norm2.initialize(random);
      dense(layer.hidden);
      dense(layer.out);
    }
    norm_->initialize(random);
    dense(*head_);
  }

  const Convention& convention_;
  std::int64_t channels_;
  at::Tensor token_, positions_;
  std::optional<Conv2d> patches_;
  std::vector<EncoderLayer> layers_;
  std::optional<LayerNorm> norm_;
  std::optional<Linear> head_;
};

std::string square(std::int64_t side) { return std::to_string(side) + "x" + std::to_string(side); }

template <const Size& size>
class VitBuilder final : public ModelBuilder {
 public:
  explicit VitBuilder(const VitOptions& options) : options_(options) {}

  std::unique_ptr<Model> build(const ModelInput& input) const override {
    const std::int64_t patch = options_.patch;
    const std::int64_t side = options_.image_size > 0 ? options_.image_size : input.height;
    const std::string these =
        ", these are " + std::to_string(input.height) + "x" + std::to_string(input.width);
    const std::int64_t next = (std::max<std::int64_t>(side, 1) + patch - 1) / patch * patch;
    if (options_.image_size > 0 && options_.image_size % patch != 0) {
      throw OptionError("model.image_size: " + std::to_string(side) +
                        " is no multiple of model.patch = " + std::to_string(patch) + "; take " +
                        std::to_string(next));
    }
    if (input.height != side || input.width != side) {
      throw OptionError(options_.image_size > 0
                            ? "model.image_size: images are to be " + square(side) + these +
                                  "; set data.resize = " + std::to_string(side)
                            : "model.name: a vit needs square images" + these +
                                  "; resize them: data.resize = " + std::to_string(next));
    }
    if (side % patch != 0) {
      throw OptionError(
          "model.patch: a vit needs images whose sides are multiples of the patch's " +
          std::to_string(patch) + these + "; resize them, data.resize = " + std::to_string(next) +
          ", or take another model.patch");
    }
    return std::make_unique<Vit>(size, side, options_, input.classes);
  }

 private:
  VitOptions options_;
};

FEDVG_REGISTER(ModelBuilder, "vit_b_16", VitBuilder<kBase>, VitOptions,
               "vision transformer ViT-B/16, as torchvision's");
FEDVG_REGISTER(ModelBuilder, "vit_s_16", VitBuilder<kSmall>, VitOptions,
               "vision transformer ViT-S/16, as timm's");

}  // namespace
}  // namespace fedvg
