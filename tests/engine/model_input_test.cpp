#include "engine/model_input.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "engine/example_data.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using testing::expect_says;
using testing::refusal;

/// Takes images of `wanted` channels; its one weight has `dimensions` axes.
class Stub final : public Model {
 public:
  Stub(std::int64_t wanted, std::size_t dimensions) : wanted_(wanted) {
    parameters_.push_back({"w", "w", at::zeros(std::vector<std::int64_t>(dimensions, 1))});
  }
  Output forward(const at::Tensor& x, Mode) override { return {x, x}; }
  std::int64_t input_channels() const override { return wanted_; }
  void initialize(Random&) override {}

 private:
  std::int64_t wanted_;
};

class StubBuilder final : public ModelBuilder {
 public:
  explicit StubBuilder(std::size_t dimensions) : dimensions_(dimensions) {}
  std::unique_ptr<Model> build(const ModelInput&) const override {
    return std::make_unique<Stub>(0, dimensions_);
  }

 private:
  std::size_t dimensions_;
};

Samples images(std::int64_t channels) { return {.channels = channels, .height = 28, .width = 28}; }

Samples features(std::int64_t width) {
  return {.channels = width, .height = 1, .width = 1, .is_features = true};
}

TEST(BatchChannels, AreThoseOfTheDataUnlessTheModelSays) {
  EXPECT_EQ(batch_channels(Stub(0, 4), images(1), "any"), 1);
  EXPECT_EQ(batch_channels(Stub(0, 4), images(3), "any"), 3);
  EXPECT_EQ(batch_channels(Stub(3, 4), images(3), "any"), 3);
  EXPECT_EQ(batch_channels(Stub(1, 4), images(1), "any"), 1);
  EXPECT_EQ(batch_channels(Stub(0, 2), features(7), "any"), 7);
}

// U32
TEST(BatchChannels, OfGrayImagesAreRepeatedToThreeOnly) {
  EXPECT_EQ(batch_channels(Stub(3, 4), images(1), "colours"), 3);
  expect_says(refusal([] { batch_channels(Stub(2, 4), images(1), "two"); }),
              {"two", "2 channels", "1 channel"});
}

// U32
TEST(BatchChannels, OfColourImagesAreNotReduced) {
  expect_says(refusal([] { batch_channels(Stub(1, 4), images(3), "gray"); }),
              {"model.name", "gray", "takes images of 1 channel", "these have 3 channels"});
}

TEST(ModelFor, FeaturesTakesWhatDoesNotConvolve) {
  EXPECT_NE(model_for(StubBuilder(2), features(7), 3, "dense"), nullptr);
  EXPECT_NE(model_for(StubBuilder(4), images(1), 3, "convolving"), nullptr);
  const auto mlp = Registry<ModelBuilder>::instance().make("mlp");
  const auto model = model_for(*mlp, features(7), 3, "mlp");
  EXPECT_EQ(model->parameters()[0].tensor.size(1), 7);
  EXPECT_EQ(model->forward(at::zeros({5, 7}), Mode::train).logits.sizes().vec(),
            (std::vector<std::int64_t>{5, 3}));
}

TEST(ModelFor, FeaturesRefusesConvolutions) {
  expect_says(refusal([] { model_for(StubBuilder(4), features(30), 3, "convolving"); }),
              {"convolving takes images", "30 features", "mlp"});
  const auto cnn = Registry<ModelBuilder>::instance().make("cnn");
  expect_says(refusal([&] { model_for(*cnn, features(30), 3, "cnn"); }),
              {"cnn takes images", "30 features", "mlp"});
}

}  // namespace
}  // namespace fedvg
