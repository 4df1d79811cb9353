#include "data/shared_images.h"

#include <cstring>

#include "data/fingerprint.h"
#include "data/testing.h"

namespace fedvg {
namespace {

// Images of one pixel with these values.
Samples images(std::vector<std::uint8_t> values) {
  Samples made{.channels = 1,
               .height = 1,
               .width = 1,
               .pixels = std::move(values),
               .labels = {},
               .owners = {},
               .is_features = false};
  made.labels.resize(made.pixels.size());
  return made;
}

// Rows of one feature with these values.
Samples features(const std::vector<float>& values) {
  Samples made = images(std::vector<std::uint8_t>(values.size()));
  made.is_features = true;
  made.pixels.resize(values.size() * sizeof(float));
  std::memcpy(made.pixels.data(), values.data(), made.pixels.size());
  return made;
}

std::string shared(const FederatedData& data) {
  return shared_images(data, image_hashes(data.dataset.training));
}

std::string line(int clients_test, int clients_validation, int validation_test) {
  return "images with a pixel-for-pixel copy in another part: " + std::to_string(clients_test) +
         " of the clients in the test set, " + std::to_string(clients_validation) +
         " of the clients in D_val, " + std::to_string(validation_test) +
         " of D_val in the test set";
}

TEST(SharedImages, AreCountedBetweenClientsDvalAndTestSet) {
  FederatedData data;
  data.dataset.training = images({1, 2, 3, 1, 9, 2});
  data.dataset.test = images({9, 8, 9});
  data.clients = {{0, 1}, {2}};
  data.test = {0, 1, 2};
  data.validation = {3, 4};  // a copy of image 0, and one of two test images
  EXPECT_EQ(shared(data), line(0, 1, 1));
  data.clients = {{0, 1}, {2, 5}};
  data.validation = {};
  EXPECT_EQ(shared(data), "");  // a copy within one part is nobody's leak
}

// The set has its own values, as another data set has.
TEST(SharedImages, AreFoundInADvalOfItsOwn) {
  FederatedData data;
  data.dataset.training = images({1, 2, 3, 4});
  data.dataset.test = images({7, 8});
  data.validation_set = images({2, 7, 5, 2});
  data.clients = {{0, 1}, {2, 3}};
  data.test = {0, 1};
  data.validation = {0, 1, 2};
  EXPECT_EQ(shared(data), line(0, 1, 1));
  data.validation = {2};
  EXPECT_EQ(shared(data), "");
}

// Pooled: clients, D_val and test set lie in one set.
TEST(SharedImages, AreFoundInAPooledSet) {
  FederatedData data;
  data.dataset.training = images({1, 2, 2, 3, 1, 3});
  data.pooled = true;
  data.clients = {{0, 1}};
  data.validation = {3};
  data.test = {2, 4, 5};
  EXPECT_EQ(shared(data), line(2, 0, 1));
}

TEST(SharedImages, OfFeaturesAreSamples) {
  FederatedData data;
  data.dataset.training = features({1, 2});
  data.dataset.test = features({2});
  data.clients = {{0, 1}};
  data.test = {0};
  EXPECT_TRUE(shared(data).starts_with(
      "samples with an equal copy in another part: 1 of the clients in the test set, "))
      << shared(data);
}

TEST(SharedImages, OfAnotherSizeAreOthers) {
  FederatedData data;
  data.dataset.training = images({0, 1});
  data.dataset.test = images({5});
  data.validation_set = images({0, 0});
  data.validation_set->labels = {0};
  data.validation_set->width = 2;
  data.clients = {{0}};
  data.validation = {0};
  data.test = {0};
  EXPECT_EQ(shared(data), "");
}

}  // namespace
}  // namespace fedvg
