#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fedvg/error.h"
#include "models/testing.h"

// Names, shapes and numbers are checked against torchvision in golden_models_test.cpp.

namespace fedvg {
namespace {

constexpr ModelInput kImageNet{3, 224, 224, 1000};

double deviation(const at::Tensor& tensor) { return tensor.std().item<double>(); }

// torchvision's table of models: https://pytorch.org/vision/stable/models.html
TEST(Resnet, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(count_parameters(*build_model("resnet18", kImageNet)), 11689512);
  EXPECT_EQ(count_parameters(*build_model("resnet34", kImageNet)), 21797672);
  EXPECT_EQ(count_parameters(*build_model("resnet50", kImageNet)), 25557032);
}

TEST(Resnet, NamesItsBlocks) {
  const std::vector<std::string> expected = {"stem",   "layer1", "layer2",
                                             "layer3", "layer4", "head"};
  const auto model = build_model("resnet18", {3, 32, 32, 10});
  EXPECT_EQ(blocks_of(model->parameters()), expected);
  const std::vector<std::string> without_head(expected.begin(), expected.end() - 1);
  EXPECT_EQ(blocks_of(model->buffers()), without_head);
  EXPECT_EQ(model->head(), "fc");
}

TEST(Resnet, HasThreeChannelsUnlessTold) {
  EXPECT_EQ(build_model("resnet18", {1, 28, 28, 10})->input_channels(), 3);
  const auto gray = build_model("resnet18", {1, 28, 28, 10}, Table{{"channels", 1}});
  EXPECT_EQ(gray->input_channels(), 1);
  EXPECT_EQ(find_tensor(gray->parameters(), "conv1.weight").sizes().vec(),
            (std::vector<std::int64_t>{64, 1, 7, 7}));
}

TEST(Resnet, GivesThePooledInputOfTheClassifier) {
  const auto model = build_model("resnet18", {3, 8, 8, 4});
  Random random(1, "initial-model");
  model->initialize(random);
  const Output output = model->forward(at::rand({2, 3, 8, 8}), Mode::eval);
  EXPECT_EQ(output.features.sizes().vec(), (std::vector<std::int64_t>{2, 512}));
  const at::Tensor logits =
      output.features.matmul(find_tensor(model->parameters(), "fc.weight").t())
          .add(find_tensor(model->parameters(), "fc.bias"));
  EXPECT_TRUE(logits.allclose(output.logits, 1e-4, 1e-5));
}

// Kaiming normal, fan-out, ReLU: 7 * 7 * 64 outputs of a pixel, 3 * 3 * 512 in layer4, and
// 128 of the downsampling 1x1; the head uniform in +-1/sqrt(512).
TEST(Resnet, StartsAsTorchvisionDoes) {
  const auto model = build_model("resnet18", {3, 32, 32, 1000});
  Random random(3, "initial-model");
  model->initialize(random);
  const auto tensor = [&](const char* name) { return find_tensor(model->parameters(), name); };
  EXPECT_NEAR(deviation(tensor("conv1.weight")), std::sqrt(2.0 / (49 * 64)), 5e-4);
  EXPECT_NEAR(deviation(tensor("layer4.1.conv2.weight")), std::sqrt(2.0 / (9 * 512)), 1e-4);
  EXPECT_NEAR(deviation(tensor("layer2.0.downsample.0.weight")), std::sqrt(2.0 / 128), 3e-3);
  EXPECT_NEAR(tensor("layer4.1.conv2.weight").mean().item<double>(), 0, 1e-4);
  EXPECT_TRUE(tensor("layer3.0.downsample.1.weight").equal(at::ones({256})));
  EXPECT_TRUE(tensor("bn1.bias").equal(at::zeros({64})));
  const double bound = 1 / std::sqrt(512.0);
  for (const char* name : {"fc.weight", "fc.bias"}) {
    EXPECT_LE(tensor(name).abs().max().item<double>(), bound);
    EXPECT_NEAR(deviation(tensor(name)), bound / std::sqrt(3.0), bound / 20) << name;
  }
  EXPECT_TRUE(find_tensor(model->buffers(), "bn1.running_var").equal(at::ones({64})));
}

TEST(Resnet, BatchStatisticsLeaveTheRunningOnesAlone) {
  const auto model = build_model("resnet18", {3, 8, 8, 2});
  Random random(1, "initial-model");
  model->initialize(random);
  const at::Tensor images = at::rand({3, 3, 8, 8});
  const at::Tensor scored = model->forward(images, Mode::batch_statistics).logits;
  EXPECT_EQ(find_tensor(model->buffers(), "bn1.running_mean").abs().max().item<double>(), 0);
  EXPECT_TRUE(scored.allclose(model->forward(images, Mode::train).logits));
  EXPECT_GT(find_tensor(model->buffers(), "bn1.running_mean").abs().max().item<double>(), 0);
}

TEST(Resnet, HasNoBuffersWithGroupNorm) {
  const auto model = build_model("resnet18", {3, 8, 8, 2}, Table{{"norm", "group"}});
  EXPECT_FALSE(model->has_batch_norm());
  EXPECT_TRUE(build_model("resnet18", {3, 8, 8, 2})->has_batch_norm());
}

TEST(Resnet, RefusesTinyImages) {
  EXPECT_THROW(build_model("resnet18", {3, 7, 8, 10}), OptionError);
  EXPECT_THROW(build_model("resnet50", {3, 8, 7, 10}), OptionError);
}

}  // namespace
}  // namespace fedvg
