#include "models/network.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

std::unique_ptr<Model> build(const std::string& name, ModelInput input, Table options = {}) {
  return Registry<ModelBuilder>::instance().make(name, std::move(options))->build(input);
}

std::int64_t count(const Model& model) {
  std::int64_t sum = 0;
  for (const auto& parameter : model.parameters()) sum += parameter.tensor.numel();
  return sum;
}

Table batch_norm() {
  Table table;
  table.set("norm", "batch");
  return table;
}

// 32*25 + 32 + 64*32*25 + 64 + 1024*512 + 512 + 512*10 + 10.
TEST(Cnn, HasTheParametersOfItsLayers) {
  const auto model = build("cnn", {});
  EXPECT_EQ(count(*model), 582026);
  std::vector<std::string> names;
  for (const auto& parameter : model->parameters()) names.push_back(parameter.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                      "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
  EXPECT_EQ(model->parameters()[0].block, "conv1");
}

TEST(Cnn, TakesItsWidthsFromTheData) {
  const auto model = build("cnn", {3, 32, 32, 100});
  EXPECT_EQ(model->parameters()[0].tensor.sizes().vec(), (std::vector<std::int64_t>{32, 3, 5, 5}));
  EXPECT_EQ(model->parameters()[4].tensor.size(1), 64 * 5 * 5);
  EXPECT_EQ(model->parameters()[6].tensor.size(0), 100);
  const Output output = model->forward(at::zeros({2, 3, 32, 32}), Mode::train);
  EXPECT_EQ(output.logits.sizes().vec(), (std::vector<std::int64_t>{2, 100}));
  EXPECT_EQ(output.features.sizes().vec(), (std::vector<std::int64_t>{2, 512}));
  EXPECT_EQ(
      build("cnn", {1, 16, 20, 2})->forward(at::zeros({1, 1, 16, 20}), Mode::eval).logits.size(1),
      2);
}

TEST(Cnn, RefusesImagesThatVanish) {
  EXPECT_THROW(build("cnn", {1, 15, 28, 10}), OptionError);
  EXPECT_THROW(build("cnn", {1, 28, 4, 10}), OptionError);
}

TEST(Cnn, CarriesBuffersWithBatchNorm) {
  const auto model = build("cnn", {}, batch_norm());
  ASSERT_EQ(model->buffers().size(), 6U);
  EXPECT_EQ(model->buffers()[0].name, "bn1.running_mean");
  EXPECT_EQ(model->buffers()[2].name, "bn1.num_batches_tracked");
  EXPECT_EQ(model->buffers()[2].tensor.dim(), 0);
  EXPECT_TRUE(model->has_batch_norm());
  EXPECT_FALSE(build("cnn", {})->has_batch_norm());
}

// Two hidden layers of 200: 784*200 + 200 + 200*200 + 200 + 200*10 + 10.
TEST(Mlp, IsTheTwoLayerPerceptronByDefault) {
  EXPECT_EQ(count(*build("mlp", {})), 199210);
  Table none;
  none.set("hidden", Array{});
  EXPECT_EQ(count(*build("mlp", {}, none)), 7850);
}

TEST(Network, StartsUniformInTheRootOfTheFanIn) {
  Network network;
  network.conv2d("conv", 4, 8, 5).relu().flatten().linear("fc", 8 * 4, 1000);
  Random random(3, "initial-model");
  network.initialize(random);
  for (const std::size_t i : {0, 1}) {  // conv: fan-in 4 * 25
    const at::Tensor& tensor = network.parameters()[i].tensor;
    EXPECT_LE(tensor.abs().max().item<double>(), 0.1);
    EXPECT_GT(tensor.abs().max().item<double>(), 0.06);
  }
  const at::Tensor& weight = network.parameters()[2].tensor;
  const double bound = 1 / std::sqrt(32.0);
  EXPECT_LE(weight.abs().max().item<double>(), bound);
  EXPECT_NEAR(weight.mean().item<double>(), 0, bound / 50);
  EXPECT_NEAR(weight.std().item<double>(), bound / std::sqrt(3.0), bound / 50);
}

TEST(Network, OneStreamGivesOneModel) {
  Network first, second, third;
  for (Network* network : {&first, &second, &third}) network->linear("fc", 3, 2);
  Random a(1, "initial-model"), b(1, "initial-model"), c(2, "initial-model");
  first.initialize(a);
  second.initialize(b);
  third.initialize(c);
  EXPECT_TRUE(first.parameters()[0].tensor.equal(second.parameters()[0].tensor));
  EXPECT_FALSE(first.parameters()[0].tensor.equal(third.parameters()[0].tensor));
}

// Images 1 and 3: mean 2, biased variance 1, so (x - 2) / sqrt(1 + 1e-5); the running mean
// becomes 0.1 * 2, the running variance 0.9 + 0.1 * 2 (unbiased over 2 values).
TEST(Network, BatchNormUpdatesRunningStatisticsInTrainingOnly) {
  Network network;
  network.batch_norm("bn", 1).flatten().linear("fc", 1, 1);
  Random random(1, "initial-model");
  network.initialize(random);
  const at::Tensor images = at::arange(1, 4, 2, at::kFloat).view({2, 1, 1, 1});
  const auto mean = [&] { return network.buffers()[0].tensor.item<double>(); };
  const auto variance = [&] { return network.buffers()[1].tensor.item<double>(); };
  const auto batches = [&] { return network.buffers()[2].tensor.item<std::int64_t>(); };

  const Output scored = network.forward(images, Mode::batch_statistics);
  EXPECT_NEAR(scored.features[0][0].item<double>(), -1 / std::sqrt(1 + 1e-5), 1e-6);
  EXPECT_EQ(mean(), 0);
  EXPECT_EQ(batches(), 0);
  network.forward(images, Mode::train);
  EXPECT_NEAR(mean(), 0.2, 1e-7);
  EXPECT_NEAR(variance(), 1.1, 1e-6);
  EXPECT_EQ(batches(), 1);
  const Output evaluated = network.forward(images, Mode::eval);
  EXPECT_NEAR(evaluated.features[1][0].item<double>(), (3 - 0.2) / std::sqrt(1.1 + 1e-5), 1e-5);
  EXPECT_EQ(batches(), 1);
}

TEST(Network, GlobalAveragePoolMeansEachChannel) {
  Network network;
  network.global_avg_pool().linear("fc", 2, 1);
  const at::Tensor images = at::arange(8, at::kFloat).view({1, 2, 2, 2});
  const at::Tensor features = network.forward(images, Mode::eval).features;
  EXPECT_FLOAT_EQ(features[0][0].item<float>(), 1.5F);
  EXPECT_FLOAT_EQ(features[0][1].item<float>(), 5.5F);
}

}  // namespace
}  // namespace fedvg
