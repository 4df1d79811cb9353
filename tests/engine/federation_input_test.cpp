// What a federation makes of its data before a model sees them: channels, features,
// normalisation, augmentation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/example_data.h"
#include "engine/federation.h"
#include "fedvg/error.h"
#include "fedvg/random.h"
#include "fedvg/registry.h"
#include "models/network.h"

namespace fedvg {
namespace {

using testing::expect_says;

const std::atomic<bool> kGoOn = false;
constexpr std::int64_t kSide = 4;

/// A convolution that wants a number of channels, as a published network does.
struct PickyOptions {
  std::int64_t channels = 3;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("channels", &PickyOptions::channels, at_least(1), "of its images");
  }
};

class PickyNetwork final : public Network {
 public:
  explicit PickyNetwork(std::int64_t channels) : channels_(channels) {}
  std::int64_t input_channels() const override { return channels_; }

 private:
  std::int64_t channels_;
};

class Picky final : public ModelBuilder {
 public:
  explicit Picky(const PickyOptions& options) : channels_(options.channels) {}
  std::unique_ptr<Model> build(const ModelInput& input) const override {
    auto network = std::make_unique<PickyNetwork>(channels_);
    network->conv2d("conv", channels_, 4, 3).relu().flatten();
    network->linear("fc", 4 * (input.height - 2) * (input.width - 2), input.classes);
    return network;
  }

 private:
  std::int64_t channels_;
};

FEDVG_REGISTER(ModelBuilder, "picky", Picky, PickyOptions, "wants a number of channels");

Samples gray_images(std::int64_t count, const char* purpose) {
  Samples samples{.channels = 1, .height = kSide, .width = kSide};
  Random random(1, purpose);
  for (std::int64_t i = 0; i < count; ++i) {
    samples.labels.push_back(i % 3);
    for (int p = 0; p < kSide * kSide; ++p) {
      samples.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
    }
  }
  return samples;
}

/// The same images in three equal channels.
Samples in_colour(const Samples& gray) {
  Samples samples{.channels = 3, .height = kSide, .width = kSide, .labels = gray.labels};
  for (std::int64_t i = 0; i < gray.size(); ++i) {
    const auto image = gray.image(i);
    for (int c = 0; c < 3; ++c) {
      samples.pixels.insert(samples.pixels.end(), image.begin(), image.end());
    }
  }
  return samples;
}

/// The same images, each with its mirror image in its right half.
Samples symmetric(Samples samples) {
  for (std::size_t p = 0; p < samples.pixels.size(); ++p) {
    const std::size_t x = p % kSide;
    if (x >= kSide / 2) samples.pixels[p] = samples.pixels[p - x + kSide - 1 - x];
  }
  return samples;
}

/// The numbers that the images become, as features.
Samples as_features(const Samples& images) {
  Samples samples{.channels = images.channels * images.height * images.width,
                  .height = 1,
                  .width = 1,
                  .labels = images.labels,
                  .is_features = true};
  samples.pixels.resize(images.pixels.size() * sizeof(float));
  for (std::size_t p = 0; p < images.pixels.size(); ++p) {
    const auto number = static_cast<float>(static_cast<double>(images.pixels[p]) / 255);
    std::memcpy(samples.pixels.data() + p * sizeof(float), &number, sizeof(float));
  }
  return samples;
}

/// 60 samples in 3 classes: 5 clients of 10, and 10 for D_val; 12 for the test.
struct Example {
  FederatedData data;
  FederationSetup setup;

  Example() {
    data.dataset.classes = {"a", "b", "c"};
    data.dataset.training = gray_images(60, "training");
    data.dataset.test = gray_images(12, "test");
    testing::divide_sixty(data);
    setup.model = {"mlp", Table{{"hidden", Array{6}}}};
    setup.method = compose_method("fedvg");
    setup.train.epochs = 2;
    setup.train.batch_size = 4;
    setup.train.optimizer = {"sgd", Table{{"lr", 0.1}}};
    setup.engine.workers = 2;
  }

  template <class Change>
  void change_samples(const Change& change) {
    data.dataset.training = change(data.dataset.training);
    data.dataset.test = change(data.dataset.test);
  }
  /// The model after two rounds, its test loss behind it.
  std::vector<std::byte> trained() const {
    Federation federation(data, setup);
    for (std::int64_t r = 1; r <= 2; ++r) federation.run_round(r, {0, 1, 2, 3, 4}, kGoOn);
    std::vector<std::byte> all;
    for (const auto& array : federation.model()) {
      all.insert(all.end(), array.bytes.begin(), array.bytes.end());
    }
    const double loss = federation.evaluate_test().loss;
    const auto* bytes = reinterpret_cast<const std::byte*>(&loss);
    all.insert(all.end(), bytes, bytes + sizeof loss);
    return all;
  }
  double test_loss() const { return Federation(data, setup).evaluate_test().loss; }
  std::string notes() const {
    std::string text;
    const Federation federation(data, setup);
    for (const auto& note : federation.info().notes) text += note + "\n";
    return text;
  }
  /// "" when there is none.
  std::string refusal() const {
    return testing::refusal([&] { Federation made(data, setup); });
  }
};

Part given(const Array& mean, const Array& deviation) {
  return {"given", Table{{"mean", mean}, {"std", deviation}}};
}

// --- channels

// U32
TEST(FederationInput, RepeatsGrayImagesForAModelOfColours) {
  Example gray;
  gray.setup.model = {"picky", {}};
  expect_says(gray.notes(), {"the one channel is repeated to the 3", "picky"});
  Example colour = gray;
  colour.change_samples(in_colour);
  EXPECT_EQ(colour.notes().find("repeated"), std::string::npos);
  EXPECT_EQ(gray.trained(), colour.trained());
  gray.setup.normalize = colour.setup.normalize = {"dataset", {}};
  EXPECT_EQ(gray.trained(), colour.trained());
  gray.setup.normalize = given({0.5}, {0.25});
  colour.setup.normalize = given({0.5, 0.5, 0.5}, {0.25, 0.25, 0.25});
  EXPECT_EQ(gray.trained(), colour.trained());
  gray.setup.normalize = colour.setup.normalize;
  EXPECT_EQ(gray.trained(), colour.trained());
}

// U32
TEST(FederationInput, RefusesColoursForAModelOfOneChannel) {
  Example example;
  example.change_samples(in_colour);
  example.setup.model = {"picky", Table{{"channels", 1}}};
  expect_says(example.refusal(), {"picky", "1 channel", "3 channels"});
}

// U32
TEST(FederationInput, RefusesThreeConstantsForOneChannel) {
  Example example;
  example.setup.normalize = given({0.5, 0.5, 0.5}, {0.2, 0.2, 0.2});
  expect_says(example.refusal(), {"data.normalize", "3 numbers", "1 channel"});
  example.setup.normalize = given({0.5}, {0.2});
  EXPECT_EQ(example.refusal(), "");
}

// --- normalisation

TEST(FederationInput, StandardizesByGivenNumbers) {
  Example example;
  const double plain = example.test_loss();
  example.setup.normalize = given({0}, {1});
  EXPECT_EQ(example.test_loss(), plain);
  example.setup.normalize = given({0.5}, {0.1});
  EXPECT_NE(example.test_loss(), plain);
}

// The test samples that lie among the training set's are none of its training part.
TEST(FederationInput, MeasuresNoTestSample) {
  Example example;
  example.setup.normalize = {"dataset", {}};
  example.data.pooled = true;
  example.data.test = {40, 41, 42};
  example.data.clients[4] = {43, 44, 45, 46, 47, 48, 49};
  const auto validation_loss = [&] {
    return Federation(example.data, example.setup).evaluate_validation()->loss;
  };
  const double before = validation_loss();
  auto& pixels = example.data.dataset.training.pixels;
  const auto first = static_cast<std::ptrdiff_t>(40 * kSide * kSide);
  std::fill_n(pixels.begin() + first, 3 * kSide * kSide, std::uint8_t{255});
  EXPECT_EQ(validation_loss(), before);
  pixels[static_cast<std::size_t>(43 * kSide * kSide)] ^= 128;
  EXPECT_NE(validation_loss(), before);
}

// --- features

TEST(FederationInput, TakesFeaturesAsImagesOfTheSameNumbers) {
  const Example images;
  Example features;
  features.change_samples(as_features);
  EXPECT_EQ(features.trained(), images.trained());
}

TEST(FederationInput, StandardizesFeaturesAndNamesConstantOnes) {
  Example example;
  for (std::size_t i = 0; i < 60; ++i) {
    example.data.dataset.training.pixels[i * kSide * kSide + 5] = 9;
  }
  example.change_samples(as_features);
  const double plain = example.test_loss();
  EXPECT_EQ(example.notes().find("one value"), std::string::npos);
  example.setup.normalize = {"dataset", {}};
  EXPECT_NE(example.test_loss(), plain);
  expect_says(example.notes(), {"1 of 16 features", "(5, counted from 0)"});
}

TEST(FederationInput, RefusesFeaturesWhereImagesAreWanted) {
  Example example;
  example.change_samples(as_features);
  for (const char* model : {"cnn", "picky"}) {
    example.setup.model = {model, {}};
    expect_says(example.refusal(), {model, "takes images", "16 features", "mlp"});
  }
  example.setup.model = {"mlp", {}};
  example.setup.augmentation = {.flips = true};
  expect_says(example.refusal(), {"data.augment", "16 features"});
}

// --- augmentation

TEST(FederationInput, AugmentsAlikeForAnyNumberOfWorkers) {
  Example example;
  const auto plain = example.trained();
  example.setup.augmentation = {.flips = true, .padding = 2};
  const auto augmented = example.trained();
  EXPECT_NE(augmented, plain);
  EXPECT_EQ(example.trained(), augmented);
  for (const std::int64_t workers : {1, 4}) {
    example.setup.engine.workers = workers;
    EXPECT_EQ(example.trained(), augmented) << workers;
  }
  example.setup.seed = 2;
  EXPECT_NE(example.trained(), augmented);
}

// What flipping cannot change is trained as without it: no other draw is touched.
TEST(FederationInput, AugmentationLeavesOtherDrawsAlone) {
  Example example;
  example.change_samples(symmetric);
  const auto plain = example.trained();
  example.setup.augmentation = {.flips = true};
  EXPECT_EQ(example.trained(), plain);
}

// Clients that learn nothing, as their rate is next to 0, show what they are scored and the
// model is evaluated on: images as they are.
TEST(FederationInput, AugmentsNothingButLocalTraining) {
  Example example;
  example.setup.train.optimizer = {"sgd", Table{{"lr", 1e-60}}};
  const auto figures = [&] {
    Federation federation(example.data, example.setup);
    const auto record = federation.run_round(1, {0, 1}, kGoOn);
    std::vector<double> all{record.clients[0].norm.value(), record.clients[1].norm.value(),
                            federation.evaluate_test().loss,
                            federation.evaluate_validation()->loss};
    return std::pair(all, record.clients[0].loss_first);
  };
  const auto [plain, plain_loss] = figures();
  example.setup.augmentation = {.flips = true, .padding = 1};
  const auto [augmented, augmented_loss] = figures();
  EXPECT_EQ(augmented, plain);
  EXPECT_NE(augmented_loss, plain_loss);
}

TEST(FederationInput, RefusesACropThatCanMissTheImage) {
  Example example;
  example.setup.augmentation = {.padding = kSide};
  expect_says(example.refusal(), {"data.augment_padding", "4 x 4", "at most 3"});
}

}  // namespace
}  // namespace fedvg
