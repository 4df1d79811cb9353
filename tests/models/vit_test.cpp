#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fedvg/error.h"
#include "models/testing.h"

// Names, shapes and numbers are checked against torchvision and timm in golden_models_test.cpp.

namespace fedvg {
namespace {

using testing::HasSubstr;

std::string refusal(const ModelInput& input, Table options = {}) {
  try {
    build_model("vit_s_16", input, std::move(options));
  } catch (const OptionError& error) {
    return error.what();
  }
  return "accepted";
}

// torchvision's and timm's tables of models.
TEST(Vit, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(count_parameters(*build_model("vit_b_16", {3, 224, 224, 1000})), 86567656);
  EXPECT_EQ(count_parameters(*build_model("vit_s_16", {3, 224, 224, 1000})), 22050664);
}

TEST(Vit, NamesItsBlocks) {
  const auto small = build_model("vit_s_16", {3, 16, 16, 10});
  const auto blocks = blocks_of(small->parameters());
  ASSERT_EQ(blocks.size(), 14U);
  EXPECT_EQ(blocks.front(), "embedding");
  EXPECT_EQ(blocks[1], "blocks.0");
  EXPECT_EQ(blocks[12], "blocks.11");
  EXPECT_EQ(blocks.back(), "head");
  EXPECT_EQ(small->head(), "head");
  const auto base = build_model("vit_b_16", {3, 16, 16, 10});
  EXPECT_EQ(blocks_of(base->parameters())[1], "encoder_layer_0");
  EXPECT_EQ(blocks_of(base->parameters()).size(), 14U);
  EXPECT_EQ(base->head(), "heads.head");
}

TEST(Vit, TakesPatchAndChannels) {
  const auto model = build_model("vit_s_16", {1, 8, 8, 5}, Table{{"patch", 4}, {"channels", 1}});
  EXPECT_EQ(model->input_channels(), 1);
  EXPECT_EQ(find_tensor(model->parameters(), "pos_embed").size(1), 2 * 2 + 1);
  const Output output = model->forward(at::rand({2, 1, 8, 8}), Mode::train);
  EXPECT_EQ(output.logits.sizes().vec(), (std::vector<std::int64_t>{2, 5}));
  EXPECT_EQ(output.features.sizes().vec(), (std::vector<std::int64_t>{2, 384}));
}

// fan_in of the patches: 3 * 16 * 16; Xavier's bound sqrt(6 / (in + out)), deviation
// bound / sqrt(3).
TEST(Vit, BaseStartsAsTorchvisionDoes) {
  const auto model = build_model("vit_b_16", {3, 32, 32, 10});
  Random random(3, "initial-model");
  model->initialize(random);
  const auto tensor = [&](const std::string& name) {
    const at::Tensor found = find_tensor(model->parameters(), name);
    EXPECT_TRUE(found.defined()) << name;
    return found.detach();
  };
  const auto deviation = [&](const std::string& name) { return tensor(name).std().item<double>(); };
  const std::string layer = "encoder.layers.encoder_layer_5.";
  EXPECT_EQ(deviation("class_token"), 0);
  EXPECT_NEAR(deviation("conv_proj.weight"), std::sqrt(1.0 / 768), 2e-4);
  EXPECT_EQ(deviation("conv_proj.bias"), 0);
  EXPECT_NEAR(deviation("encoder.pos_embedding"), 0.02, 1e-3);
  EXPECT_NEAR(deviation(layer + "self_attention.in_proj_weight"), std::sqrt(2.0 / (4 * 768)), 1e-4);
  EXPECT_EQ(deviation(layer + "self_attention.in_proj_bias"), 0);
  EXPECT_NEAR(deviation(layer + "self_attention.out_proj.weight"), std::sqrt(1.0 / (3 * 768)),
              1e-4);
  EXPECT_EQ(deviation(layer + "self_attention.out_proj.bias"), 0);
  EXPECT_NEAR(deviation(layer + "mlp.0.weight"), std::sqrt(2.0 / (5 * 768)), 1e-4);
  EXPECT_NEAR(deviation(layer + "mlp.3.bias"), 1e-6, 1e-7);
  EXPECT_TRUE(tensor(layer + "ln_2.weight").equal(at::ones({768})));
  EXPECT_EQ(tensor("heads.head.weight").abs().max().item<double>(), 0);
  EXPECT_EQ(tensor("heads.head.bias").abs().max().item<double>(), 0);
}

TEST(Vit, SmallStartsAsTimmDoes) {
  const auto model = build_model("vit_s_16", {3, 32, 32, 100});
  Random random(3, "initial-model");
  model->initialize(random);
  const auto deviation = [&](const std::string& name) {
    const at::Tensor found = find_tensor(model->parameters(), name);
    EXPECT_TRUE(found.defined()) << name;
    return found.std().item<double>();
  };
  EXPECT_NEAR(deviation("cls_token"), 1e-6, 2e-7);
  EXPECT_NEAR(deviation("pos_embed"), 0.02, 1e-3);
  EXPECT_NEAR(deviation("patch_embed.proj.weight"), std::sqrt(1.0 / (3 * 768)), 1e-4);
  EXPECT_NEAR(deviation("patch_embed.proj.bias"), std::sqrt(1.0 / (3 * 768)), 2e-3);
  for (const char* name : {"blocks.3.attn.qkv.weight", "blocks.3.attn.proj.weight",
                           "blocks.3.mlp.fc1.weight", "blocks.3.mlp.fc2.weight", "head.weight"}) {
    EXPECT_NEAR(deviation(name), 0.02, 5e-4) << name;
  }
  for (const char* name : {"blocks.3.attn.qkv.bias", "blocks.3.mlp.fc1.bias", "head.bias"}) {
    EXPECT_EQ(deviation(name), 0) << name;
  }
}

TEST(Vit, RefusesImagesThatPatchesDoNotCover) {
  EXPECT_THAT(refusal({3, 28, 28, 10}), HasSubstr("data.resize = 32"));
  EXPECT_THAT(refusal({3, 32, 16, 10}), HasSubstr("square"));
  EXPECT_THAT(refusal({3, 32, 32, 10}, Table{{"image_size", 224}}), HasSubstr("data.resize = 224"));
  EXPECT_THAT(refusal({3, 24, 24, 10}, Table{{"image_size", 24}}), HasSubstr("image_size"));
  EXPECT_EQ(refusal({3, 24, 24, 10}, Table{{"image_size", 24}, {"patch", 8}}), "accepted");
}

}  // namespace
}  // namespace fedvg
