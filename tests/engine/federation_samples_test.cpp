#include "engine/federation_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/example_data.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;

/// 60 images of 2 x 2 and, with `pooled`, the test samples among them.
FederatedData example(bool pooled = false) {
  FederatedData data;
  data.dataset.classes = {"a", "b"};
  const auto images = [](std::int64_t number) {
    Samples samples{.channels = 1, .height = 2, .width = 2};
    for (std::int64_t i = 0; i < number; ++i) {
      samples.pixels.insert(samples.pixels.end(), 4, static_cast<std::uint8_t>(i));
      samples.labels.push_back(i % 2);
    }
    return samples;
  };
  data.dataset.training = images(60);
  data.dataset.test = images(pooled ? 0 : 12);
  data.pooled = pooled;
  testing::divide_sixty(data);
  return data;
}

TEST(FederationSamples, PartsAreWhereTheDataSayTheyAre) {
  const FederatedData data = example();
  const FederationSamples samples = samples_of(data, {}, {});
  EXPECT_EQ(samples.store(DataPart::training).size(), 60);
  EXPECT_EQ(samples.store(DataPart::test).size(), 12);
  EXPECT_EQ(&samples.store(DataPart::validation), samples.training.get()) << "held out of it";
  EXPECT_EQ(samples.ids(DataPart::training).size(), 50U);
  EXPECT_EQ(samples.ids(DataPart::test), data.test);
  EXPECT_EQ(samples.ids(DataPart::validation), data.validation);
}

TEST(FederationSamples, ASetOfItsOwnForValidation) {
  FederatedData data = example();
  data.validation_set = data.dataset.test;
  data.validation = {3, 1};
  const FederationSamples samples = samples_of(data, {}, {});
  EXPECT_EQ(samples.store(DataPart::validation).size(), 12);
  EXPECT_THAT(samples.ids(DataPart::validation), ElementsAre(3, 1));
}

TEST(FederationSamples, WhatSeveralClientsHoldIsOnceInTheTrainingPart) {
  FederatedData data = example();
  data.clients = {{7, 2}, {}, {2, 5}};
  EXPECT_THAT(samples_of(data, {}, {}).ids(DataPart::training), ElementsAre(2, 5, 7));
}

TEST(FederationSamples, APooledSetHasItsTestSamplesInItButNotInItsStatistics) {
  FederatedData data = example(/*pooled=*/true);
  data.test = {59, 0};
  const FederationSamples samples = samples_of(data, {}, {});
  EXPECT_EQ(&samples.store(DataPart::test), samples.training.get());
  const IndexList part = training_part(data);
  EXPECT_EQ(part.size(), 58U);
  EXPECT_EQ(part.front(), 1);
  EXPECT_EQ(part.back(), 58);
  EXPECT_EQ(training_part(example()).size(), 60U);
}

TEST(FederationSamples, ClientsAreOneWhereTheirSamplesArePooled) {
  FederatedData data = example();
  data.clients = {{7, 2}, {}, {5}};
  const FederationSamples samples = samples_of(data, {}, {});
  const auto apart = local_data_of(data, *samples.training, /*as_one=*/false);
  ASSERT_EQ(apart.size(), 3U);
  EXPECT_THAT(apart[0].samples, ElementsAre(7, 2));
  EXPECT_TRUE(apart[1].samples.empty());
  const auto one = local_data_of(data, *samples.training, /*as_one=*/true);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_THAT(one[0].samples, ElementsAre(7, 2, 5));
}

}  // namespace
}  // namespace fedvg
