// centralized and local: what federated methods are compared with.

#include <gtest/gtest.h>

#include "engine/federation.h"
#include "fedvg/error.h"
#include "fedvg/method.h"
#include "fedvg/random.h"

namespace fedvg {
namespace {

/// Two classes told apart by the mean brightness of 2 x 2 images.
Samples images(std::int64_t count, std::uint64_t seed) {
  Samples samples{.channels = 1, .height = 2, .width = 2};
  Random random(seed, "lines-test");
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = i % 2;
    for (int pixel = 0; pixel < 4; ++pixel) {
      samples.pixels.push_back(
          static_cast<std::uint8_t>(random.below(100) + (label == 1 ? 150 : 0)));
    }
    samples.labels.push_back(label);
  }
  return samples;
}

FederatedData data_of(std::vector<IndexList> clients) {
  FederatedData data;
  data.dataset = {.name = "two-classes", .classes = {"dark", "bright"}};
  data.dataset.training = images(40, 1);
  data.dataset.test = images(20, 2);
  for (std::int64_t i = 0; i < 20; ++i) data.test.push_back(i);
  data.clients = std::move(clients);
  return data;
}

FederationSetup setup_of(const std::string& method) {
  FederationSetup setup;
  setup.method = compose_method(method);
  setup.model = {"mlp", {}};
  setup.model.options.set("hidden", Array{});
  setup.train.optimizer.options.set("lr", 0.5);
  setup.train.batch_size = 4;
  setup.engine.workers = 2;
  setup.engine.precision = "float64";
  return setup;
}

const std::vector<IndexList> kDarkAndBright = {
    {0, 2, 4, 6, 8, 10, 12, 14}, {1, 3, 5, 7, 9, 11, 13, 15}, {}};

// All samples in one client: the pooled run is a federation of that one client.
TEST(Centralized, TrainsOnEverybodysSamplesAsOne) {
  const FederatedData apart = data_of({{0, 1, 2, 3}, {4, 5, 6, 7, 8}});
  const FederatedData together = data_of({{0, 1, 2, 3, 4, 5, 6, 7, 8}});
  Federation pooled(apart, setup_of("centralized")), alone(together, setup_of("fedavg"));
  const std::atomic<bool> stop = false;
  const RoundRecord record = pooled.run_round(1, {1}, stop);
  alone.run_round(1, {0}, stop);
  EXPECT_EQ(record.participants, 1);
  EXPECT_EQ(record.clients[0].samples, 9);
  EXPECT_EQ(pooled.model()[0].bytes, alone.model()[0].bytes);
}

// A client that sees one class answers that class: half right. The third is empty and does
// not count. The global model stays the initial one.
TEST(Local, MeansTheFiguresOfEachClientsOwnModel) {
  const FederatedData data = data_of(kDarkAndBright);
  Federation federation(data, setup_of("local"));
  const auto initial = federation.model();
  const Evaluation before = federation.evaluate_test();
  const std::atomic<bool> stop = false;
  for (std::int64_t round = 1; round <= 5; ++round) federation.run_round(round, {0, 1}, stop);
  EXPECT_EQ(federation.model(), initial);
  const Evaluation after = federation.evaluate_test();
  EXPECT_DOUBLE_EQ(after.accuracy, 0.5);
  EXPECT_NE(after.loss, before.loss);
  EXPECT_EQ(federation.evaluate_test().loss, after.loss);
  // Each has recall 1 and 0, F1 2 x 10 / (20 + 10) and 0; both answers of all 20 images.
  EXPECT_DOUBLE_EQ(after.balanced_accuracy.value(), 0.5);
  EXPECT_DOUBLE_EQ(after.macro_f1.value(), 1.0 / 3);
  EXPECT_EQ(after.confusion, (Confusion{{10, 10}, {10, 10}}));
}

// Two rounds of one client alone are two rounds of a federation of that client only.
TEST(Local, GoesOnFromTheClientsOwnModel) {
  const FederatedData data = data_of({{0, 1, 2, 3, 4, 5}}), same = data_of({{0, 1, 2, 3, 4, 5}});
  Federation local(data, setup_of("local")), federated(same, setup_of("fedavg"));
  const std::atomic<bool> stop = false;
  for (std::int64_t round = 1; round <= 2; ++round) {
    local.run_round(round, {0}, stop);
    federated.run_round(round, {0}, stop);
  }
  EXPECT_NEAR(local.evaluate_test().loss, federated.evaluate_test().loss, 1e-12);
}

// Clients that have not trained yet count with the initial model.
TEST(Local, CountsUntrainedClientsWithTheInitialModel) {
  const FederatedData data = data_of(kDarkAndBright);
  Federation federation(data, setup_of("local"));
  const double initial = federation.evaluate_test().loss;
  const std::atomic<bool> stop = false;
  federation.run_round(1, {0}, stop);
  const double one = federation.evaluate_test().loss;
  Federation other(data, setup_of("fedavg"));
  other.run_round(1, {0}, stop);
  EXPECT_NEAR(one, (initial + other.evaluate_test().loss) / 2, 1e-12);
}

// Averaged running statistics would be something shared.
TEST(Local, RefusesSharedRunningStatistics) {
  FederatedData data = data_of(kDarkAndBright);
  for (Samples* samples : {&data.dataset.training, &data.dataset.test}) {
    samples->height = samples->width = 16;
    samples->pixels.resize(samples->labels.size() * 256);
  }
  data.validation = {16, 17, 18, 19};
  FederationSetup setup = setup_of("local");
  setup.model = {"cnn", {}};
  setup.model.options.set("norm", "batch");
  EXPECT_THROW(Federation(data, setup), OptionError);
  setup.train.buffers = "local";
  EXPECT_NO_THROW(Federation(data, setup));
}

TEST(Lines, DoNotCombineWithFedVg) {
  EXPECT_THROW(compose_method("centralized+fedvg"), OptionError);
  EXPECT_THROW(compose_method("fedvg+local"), OptionError);
}

}  // namespace
}  // namespace fedvg
