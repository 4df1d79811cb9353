// evaluate.clients: how the model does on each client's own samples, and that measuring it
// changes nothing.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "engine/every_method.h"
#include "toy_federation.h"

namespace fedvg {
namespace {

using testing::every_method;
using testing::part;
using testing::Scripted;
using testing::ToyFederation;
using testing::ToyOptions;

const std::vector<std::int64_t> kSizes = {30, 3, 0, 620, 1, 17};

/// Samples of the clients of a ToyFederation, one after the other.
std::vector<std::vector<std::int64_t>> samples_of(const std::vector<std::int64_t>& sizes) {
  std::vector<std::vector<std::int64_t>> clients;
  std::int64_t next = 0;
  for (const auto size : sizes) {
    auto& client = clients.emplace_back(static_cast<std::size_t>(size));
    std::iota(client.begin(), client.end(), next);
    next += size;
  }
  return clients;
}

ToyOptions measured(std::vector<std::int64_t> sizes) {
  ToyOptions options;
  options.sizes = std::move(sizes);
  options.optimizer = part("sgd", {{"lr", 0.5}});
  options.adjust = [](DriverSetup& setup) {
    setup.measures_clients = [](std::int64_t) { return true; };
  };
  return options;
}

void expect_same(const ClientFigures& a, const ClientFigures& b) {
  EXPECT_EQ(a.clients, b.clients);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.weighted, b.weighted);
  EXPECT_EQ(a.worst, b.worst);
  EXPECT_EQ(a.deviation, b.deviation);
}

// 671 samples are two pieces of work, which cut through a client.
TEST(ClientEvaluation, IsThatOfEachClientByItselfForAnyNumberOfWorkers) {
  const auto clients = samples_of(kSizes);
  for (const std::size_t workers : {1, 2, 3}) {
    ToyOptions options = measured(kSizes);
    options.workers = workers;
    ToyFederation federation(std::move(options));
    federation.round(1, {0, 3});
    std::vector<ClientTally> tallies;
    for (const auto& client : clients) {
      ClientTally& tally = tallies.emplace_back();
      tally.samples = std::ssize(client);
      if (client.empty()) continue;
      const auto one = federation.driver->evaluate(*federation.store, client, federation.stop);
      tally.right = std::llround(one.accuracy * static_cast<double>(tally.samples));
    }
    const ClientFigures figures =
        federation.driver->evaluate_clients(*federation.store, clients, federation.stop);
    expect_same(figures, figures_of(tallies));
    EXPECT_EQ(figures.clients, 5);
    EXPECT_FALSE(figures.own_models);
    const auto all =
        federation.driver->evaluate(*federation.store, samples_of({671}).front(), federation.stop);
    EXPECT_EQ(figures.weighted, all.accuracy);
  }
}

TEST(ClientEvaluation, MeasuresParticipantsBeforeAndAfterTheirTraining) {
  const auto clients = samples_of(kSizes);
  ToyFederation federation(measured(kSizes));
  const auto accuracy_on = [&](std::size_t client) {
    return federation.driver->evaluate(*federation.store, clients[client], federation.stop)
        .accuracy;
  };
  for (std::int64_t r = 1; r <= 3; ++r) {
    const double received = accuracy_on(3);
    // of one participant the global model is its own afterwards
    const ClientRecord record = federation.round(r, {3}).clients[0];
    EXPECT_EQ(record.accuracy_before.value(), received);
    EXPECT_EQ(record.accuracy_after.value(), accuracy_on(3));
    EXPECT_NE(record.accuracy_after, record.accuracy_before);
  }
}

TEST(ClientEvaluation, LeavesOutWhatThereIsNotToMeasure) {
  ToyOptions options = measured({10, 0, 10, 10});
  options.scripted = std::make_unique<Scripted>([](std::int64_t, std::int64_t) { return 1.0; });
  options.adjust = [](DriverSetup& setup) {
    setup.measures_clients = [](std::int64_t round) { return round == 2; };
    setup.faults.drop_out = 0.25;
  };
  ToyFederation federation(std::move(options));
  for (const auto& client : federation.round(1, {0, 1, 2, 3}).clients) {
    EXPECT_FALSE(client.accuracy_before.has_value());
    EXPECT_FALSE(client.accuracy_after.has_value());
  }
  for (const auto& client : federation.round(2, {0, 1, 2, 3}).clients) {
    EXPECT_EQ(client.accuracy_before.has_value(), client.status == "ok") << client.client;
    EXPECT_EQ(client.accuracy_after.has_value(), client.status == "ok") << client.client;
  }
}

// A client that lies about its update is measured with what it has learned.
TEST(ClientEvaluation, IsOfWhatAClientLearnedNotOfWhatItSends) {
  std::vector<double> after;
  for (const double factor : {1.0, -10.0}) {
    ToyOptions options = measured({40, 40});
    options.adjust = [factor](DriverSetup& setup) {
      setup.measures_clients = [](std::int64_t) { return true; };
      setup.corrupted = {true, true};
      setup.corrupted_update_factor = factor;
    };
    ToyFederation federation(std::move(options));
    after.push_back(federation.round(1, {0, 1}).clients[1].accuracy_after.value());
  }
  EXPECT_EQ(after[0], after[1]);
}

// Method local: what a client has after a round is what the figures are of, and what it starts
// the next round from; who has never trained has the initial model.
TEST(ClientEvaluation, OfMethodLocalIsOfTheClientsOwnModels) {
  const auto clients = samples_of({40, 40, 40});
  ToyOptions options = measured({40, 40, 40});
  options.use(compose_method("local"));
  options.adjust = [](DriverSetup& setup) {
    setup.measures_clients = [](std::int64_t) { return true; };
    setup.own_models = true;
  };
  ToyFederation federation(std::move(options));
  const double initial =
      federation.driver->evaluate(*federation.store, clients[2], federation.stop).accuracy;
  const RoundRecord one = federation.round(1, {0, 1});
  const std::vector<double> own = {one.clients[0].accuracy_after.value(),
                                   one.clients[1].accuracy_after.value(), initial};
  const ClientFigures figures =
      federation.driver->evaluate_clients(*federation.store, clients, federation.stop);
  EXPECT_TRUE(figures.own_models);
  EXPECT_EQ(figures.clients, 3);
  EXPECT_DOUBLE_EQ(figures.mean, (own[0] + own[1] + own[2]) / 3);
  EXPECT_EQ(figures.worst, std::min({own[0], own[1], own[2]}));
  const RoundRecord two = federation.round(2, {1, 2});
  EXPECT_EQ(two.clients[0].accuracy_before.value(), own[1]);
  EXPECT_EQ(two.clients[1].accuracy_before.value(), initial);
}

// U56: without, and with it on 2 and 8 workers, clients that finish in another order.
TEST(ClientEvaluation, ChangesNoResult) {
  const std::vector<std::int64_t> sizes = {30, 3, 17, 0, 1, 25, 12, 40};
  const auto clients = samples_of(sizes);
  for (const auto& method : every_method()) {
    for (const bool batch_norm : {false, true}) {
      std::vector<std::vector<double>> models;
      for (const std::size_t workers : {1, 2, 8}) {
        const bool evaluated = workers > 1;
        ToyOptions options;
        options.sizes = sizes;
        options.use(compose_method(method));
        options.batch_norm = batch_norm;
        options.workers = workers;
        options.dtype = at::kFloat;
        options.adjust = [evaluated, &method](DriverSetup& setup) {
          if (evaluated) setup.measures_clients = [](std::int64_t) { return true; };
          setup.own_models = method == "local";
        };
        options.before_training = [workers](std::int64_t client) {
          const auto wait = (client * 7 + static_cast<std::int64_t>(workers) * 5) % 4;
          std::this_thread::sleep_for(std::chrono::milliseconds(wait));
        };
        ToyFederation federation(std::move(options));
        RoundRecord last;
        for (std::int64_t r = 1; r <= 2; ++r) {
          last = federation.round(r, {7, 0, 4, 2, 1, 5});
          if (!evaluated) continue;
          federation.driver->evaluate_clients(*federation.store, clients, federation.stop);
          federation.driver->evaluate(*federation.store, clients[0], federation.stop);
        }
        EXPECT_EQ(last.clients[0].accuracy_after.has_value(), evaluated);
        models.push_back(federation.everything());
        for (const auto& client : last.clients) {
          models.back().push_back(client.weight);
          models.back().push_back(client.steps > 0 ? client.loss_last : 0);
        }
        EXPECT_EQ(models.back(), models.front())
            << method << (batch_norm ? ", BatchNorm, " : ", ") << workers << " workers";
      }
    }
  }
}

// As a whole federation.

Samples images(std::int64_t count) {
  Samples result{.channels = 1, .height = 2, .width = 2};
  result.labels.assign(static_cast<std::size_t>(count), 0);
  result.pixels.assign(static_cast<std::size_t>(count) * 4, 200);
  return result;
}

/// Of 10, 10 and 80 times one image.
struct ThreeClients {
  FederatedData data;
  FederationSetup setup;

  ThreeClients() {
    data.dataset.classes = {"a", "b"};
    data.dataset.training = images(100);
    data.dataset.test = images(1);
    data.test = {0};
    data.clients = samples_of({10, 10, 80});
    Table options;
    options.set("hidden", Array{4});
    setup.model = {"mlp", options};
    setup.method = compose_method("fedavg");
    setup.train.rounds = 3;
    setup.evaluate = {.every = 2, .clients = true};
  }
};

// U53: of 100 equal images the model says one class for all; two clients have it, 10 samples
// each, and the third, of 80, has the other.
TEST(ClientEvaluation, TellsTheMeanOverClientsFromThatOverSamples) {
  ThreeClients example;
  Predictions predictions;
  Federation(example.data, example.setup).evaluate(DataPart::training, predictions);
  auto& labels = example.data.dataset.training.labels;
  for (std::size_t i = 0; i < 100; ++i) {
    labels[i] = i < 20 ? predictions.predicted[0] : 1 - predictions.predicted[0];
  }
  for (const char* method : {"fedavg", "centralized", "local"}) {
    example.setup.method = compose_method(method);
    Federation federation(example.data, example.setup);
    const ClientFigures figures = federation.evaluate_clients();
    EXPECT_EQ(figures.clients, 3) << method;
    EXPECT_DOUBLE_EQ(figures.mean, 2.0 / 3);
    EXPECT_DOUBLE_EQ(figures.weighted, 0.2);
    EXPECT_DOUBLE_EQ(figures.worst, 0);
    EXPECT_NEAR(figures.deviation, std::sqrt(2.0) / 3, 1e-15);
    EXPECT_EQ(figures.own_models, std::string(method) == "local");
    EXPECT_DOUBLE_EQ(federation.evaluate(DataPart::training, predictions)->accuracy, 0.2);
  }
}

TEST(ClientEvaluation, IsDueWhenTheModelIsEvaluated) {
  const std::atomic<bool> go_on = false;
  for (const bool clients : {true, false}) {
    ThreeClients example;
    example.setup.evaluate.clients = clients;
    Federation federation(example.data, example.setup);
    for (std::int64_t round = 1; round <= 3; ++round) {
      const auto record = federation.run_round(round, {0, 2}, go_on);
      EXPECT_EQ(record.clients[0].accuracy_before.has_value(), clients && round >= 2);
      EXPECT_EQ(record.clients[1].accuracy_after.has_value(), clients && round >= 2);
    }
  }
}

}  // namespace
}  // namespace fedvg
