// Corrections and optimizers inside real rounds.

#include <gtest/gtest.h>

#include <ATen/ops/linalg_vector_norm.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "fedvg/error.h"
#include "toy_federation.h"

namespace fedvg {
namespace {

using testing::part;
using testing::ToyFederation;
using testing::ToyOptions;

double largest(const at::Tensor& tensor) { return tensor.abs().max().item<double>(); }

double length(const at::Tensor& tensor) {
  return at::linalg_vector_norm(tensor.to(at::kDouble), 2).item<double>();
}

/// SCAFFOLD's c after one round in which only `client` takes part.
at::Tensor control(ToyFederation& federation, std::int64_t client, std::int64_t round = 1) {
  federation.round(round, {client});
  return federation.correction->state().at("c");
}

// U35: 2 epochs of 3 batches at rate 0.1 are 6 steps: c = c_1+ = (w - w_1) / 0.6 when the
// client is the only one.
TEST(Scaffold, LearnsFromTheStepsReallyTaken) {
  ToyOptions options;
  options.sizes = {20};
  options.correction = part("scaffold");
  options.weighting = part("uniform");
  options.optimizer = part("sgd", {{"lr", 0.1}});
  ToyFederation federation(std::move(options));
  const at::Tensor before = federation.driver->global().clone();
  const at::Tensor c = control(federation, 0);
  EXPECT_LT(largest(c.mul(0.6).sub(before.sub(federation.driver->global()))), 1e-14);
}

// U38: clients of 10 and 1000 samples in batches of 32 take 1 * 4 and 32 * 4 steps; of two
// clients each moves c by half of its own control.
TEST(Scaffold, CountsTheStepsOfEachClient) {
  for (const std::int64_t client : {0, 1}) {
    ToyOptions options;
    options.sizes = {10, 1000};
    options.correction = part("scaffold");
    options.weighting = part("uniform");
    options.optimizer = part("sgd", {{"lr", 0.01}});
    options.epochs = 4;
    options.batch_size = 32;
    ToyFederation federation(std::move(options));
    const at::Tensor before = federation.driver->global().clone();
    const at::Tensor c = control(federation, client);
    const double path = (client == 0 ? 4 : 128) * 0.01;
    const at::Tensor walked = before.sub(federation.driver->global());
    EXPECT_LT(largest(c.mul(2 * path).sub(walked)), 1e-14) << client;
  }
}

TEST(Scaffold, StaysFiniteWithClientsOfUnequalSize) {
  for (const double momentum : {0.0, 0.9}) {
    ToyOptions options;
    options.sizes = {10, 1000};
    options.correction = part("scaffold");
    options.weighting = part("uniform");
    options.optimizer = part("sgd", {{"lr", 0.01}, {"momentum", momentum}});
    options.epochs = 4;
    options.batch_size = 32;
    ToyFederation federation(std::move(options));
    for (std::int64_t r = 1; r <= 50; ++r) {
      const auto record = federation.round(r, {0, 1});
      EXPECT_EQ(record.clients[0].steps, 4);
      EXPECT_EQ(record.clients[1].steps, 128);
      EXPECT_EQ(record.rejected, 0);
    }
    EXPECT_LT(largest(federation.driver->global()), 100);
  }
}

// U38: with momentum 0.9 six steps are as long as
// 1 + 1.9 + 2.71 + 3.439 + 4.0951 + 4.68559 = 17.82969.
TEST(Scaffold, TakesMomentumIntoAccount) {
  ToyOptions options;
  options.sizes = {20};
  options.correction = part("scaffold");
  options.weighting = part("uniform");
  options.optimizer = part("sgd", {{"lr", 0.1}, {"momentum", 0.9}});
  ToyFederation federation(std::move(options));
  const at::Tensor before = federation.driver->global().clone();
  const at::Tensor c = control(federation, 0);
  const at::Tensor walked = before.sub(federation.driver->global());
  EXPECT_LT(largest(c.mul(1.782969).sub(walked)), 1e-13);
}

// U39: the server's rate halves the model's step and leaves the controls alone.
TEST(Scaffold, HasAServerRateThatActs) {
  std::vector<at::Tensor> steps, controls;
  for (const double rate : {1.0, 0.5}) {
    ToyOptions options;
    options.correction = part("scaffold");
    options.weighting = part("uniform");
    options.server = part("sgd", {{"lr", rate}});
    ToyFederation federation(std::move(options));
    const at::Tensor before = federation.driver->global().clone();
    federation.round(1, {0, 1, 2});
    steps.push_back(federation.driver->global().sub(before));
    controls.push_back(federation.correction->state().at("c"));
  }
  EXPECT_GT(largest(steps[0]), 1e-3);
  EXPECT_LT(largest(steps[0].mul(0.5).sub(steps[1])), 1e-15);
  EXPECT_LT(largest(controls[0].sub(controls[1])), 1e-15);
}

// In the first round c = c_k = 0: FedAvg with uniform weights.
TEST(Scaffold, StartsAsFedAvg) {
  std::vector<std::vector<double>> ends;
  for (const char* name : {"scaffold", "none"}) {
    ToyOptions options;
    options.correction = part(name);
    options.weighting = part("uniform");
    ToyFederation federation(std::move(options));
    federation.round(1, {0, 1, 2});
    ends.push_back(federation.model());
  }
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(Scaffold, RefusesAdamAndKeptMomentum) {
  const auto make = [](Part optimizer, bool keep) {
    ToyOptions options;
    options.correction = part("scaffold");
    options.optimizer = std::move(optimizer);
    options.adjust = [keep](DriverSetup& setup) { setup.rules.keep_optimizer = keep; };
    ToyFederation federation(std::move(options));
  };
  EXPECT_THROW(make(part("adam"), false), OptionError);
  EXPECT_THROW(make(part("sgd", {{"momentum", 0.9}}), true), OptionError);
  EXPECT_NO_THROW(make(part("sgd"), true));
}

/// The model after two rounds of five epochs.
std::vector<double> after_two_rounds(Part correction) {
  ToyOptions options;
  options.correction = std::move(correction);
  options.epochs = 5;
  options.batch_norm = true;
  ToyFederation federation(std::move(options));
  federation.round(1, {0, 1, 2});
  federation.round(2, {0, 1});
  return federation.everything();
}

// U47: a pull of 0 is FedAvg bit for bit; so is a contrast of weight 0.
TEST(FedProx, WithoutPullIsFedAvgBitForBit) {
  const auto fedavg = after_two_rounds(part("none"));
  EXPECT_EQ(after_two_rounds(part("fedprox", {{"mu", 0.0}})), fedavg);
  EXPECT_EQ(after_two_rounds(part("moon", {{"mu", 0.0}})), fedavg);
  EXPECT_NE(after_two_rounds(part("fedprox")), fedavg);
  EXPECT_NE(after_two_rounds(part("moon")), fedavg);
}

// U47: the stronger the pull, the nearer the local model stays to the global one.
TEST(FedProx, KeepsTheLocalModelNearer) {
  double before = std::numeric_limits<double>::infinity();
  for (const double mu : {0.0, 0.01, 0.1, 1.0}) {
    double distance = 0;
    ToyOptions options;
    options.sizes = {40};
    options.correction = part("fedprox", {{"mu", mu}});
    options.optimizer = part("sgd", {{"lr", 0.1}});
    options.epochs = 5;
    options.after_end = [&distance](LocalContext&, ClientUpdate& update) {
      distance = length(update.delta);
    };
    ToyFederation federation(std::move(options));
    federation.round(1, {0});
    EXPECT_LT(distance, before) << mu;
    before = distance;
  }
}

// U47: with rate * mu = 1 each step starts again from the round's global model,
// w_2 = w_1 - (w_1 - w) - rate g(w_1) = w - rate g(w_1), and not from an earlier one.
TEST(FedProx, PullsToTheModelOfThisRound) {
  const auto toy = [](Part correction, std::int64_t steps) {
    ToyOptions options;
    options.sizes = {10};
    options.batch_size = 10;
    options.steps = steps;
    options.correction = std::move(correction);
    options.optimizer = part("sgd", {{"lr", 0.1}});
    options.adjust = [](DriverSetup& setup) { setup.rules.shuffle = false; };
    return options;
  };
  ToyFederation fedprox(toy(part("fedprox", {{"mu", 10.0}}), 2));
  ToyFederation plain(toy(part("none"), 1));
  for (std::int64_t r = 1; r <= 3; ++r) {
    const at::Tensor w = fedprox.driver->global().clone();
    plain.driver->set_global(w, {});
    plain.round(1, {0});
    const at::Tensor w1 = plain.driver->global().clone();
    plain.round(1, {0});
    const at::Tensor second = plain.driver->global().sub(w1);  // - rate g(w_1)
    fedprox.round(r, {0});
    EXPECT_LT(largest(fedprox.driver->global().sub(w).sub(second)), 1e-14) << r;
  }
}

// With as many steps everywhere FedNova is FedAvg; with unequal ones it is not.
TEST(FedNova, WithEqualStepsIsFedAvg) {
  for (const bool equal : {true, false}) {
    std::vector<at::Tensor> ends;
    for (const char* name : {"fednova", "none"}) {
      ToyOptions options;
      options.correction = part(name);
      options.steps = equal ? 4 : 0;
      ToyFederation federation(std::move(options));
      federation.round(1, {0, 1, 2});
      ends.push_back(federation.driver->global().clone());
    }
    const double apart = largest(ends[0].sub(ends[1]));
    if (equal) {
      EXPECT_LT(apart, 1e-15);
    } else {
      EXPECT_GT(apart, 1e-4);
    }
  }
}

// U49 (a): without a probe nothing is measured: FedAvg's step times tau.
TEST(Elastic, WithoutAProbeScalesTheStepByTau) {
  std::vector<at::Tensor> steps;
  for (const char* name : {"elastic", "none"}) {
    ToyOptions options;
    options.correction = part(name);
    if (std::string(name) == "elastic") options.correction = part(name, {{"sample_ratio", 0.0}});
    ToyFederation federation(std::move(options));
    const at::Tensor before = federation.driver->global().clone();
    federation.round(1, {0, 1, 2});
    steps.push_back(federation.driver->global().sub(before));
  }
  EXPECT_LT(largest(steps[1].mul(0.5).sub(steps[0])), 1e-15);
}

// The probe leaves training: floor(0.3 * 20) = 6 of 20 samples, 14 train and count.
TEST(Elastic, CountsTheSamplesItTrainsOn) {
  ToyOptions options;
  options.sizes = {20, 3};
  options.correction = part("elastic");
  ToyFederation federation(std::move(options));
  const auto record = federation.round(1, {0, 1});
  EXPECT_EQ(record.clients[0].samples, 14);
  EXPECT_EQ(record.clients[0].steps, 2 * 2);
  EXPECT_EQ(record.clients[1].samples, 3);
  EXPECT_NEAR(record.clients[0].weight, 14.0 / 17, 1e-15);
}

// The server's sensitivities are of the images themselves, whatever training makes of them.
TEST(Elastic, ProbesImagesAsTheyAre) {
  Samples samples{.channels = 1, .height = 4, .width = 4};
  Random random(3, "probe-images");
  samples.labels.resize(32);
  for (auto& label : samples.labels) label = static_cast<std::int64_t>(random.below(3));
  samples.pixels.resize(32 * 16);
  for (auto& pixel : samples.pixels) pixel = static_cast<std::uint8_t>(random.below(256));
  ImageFormat format;
  format.dtype = at::kDouble;
  const ByteStore images(samples, format, {});
  Samples turned = samples;  // that the probe tells images from the same ones turned over
  for (auto image = turned.pixels.begin(); image != turned.pixels.end(); image += 16) {
    std::reverse(image, image + 16);
  }
  const ByteStore others(turned, format, {});
  std::vector<at::Tensor> omegas, deltas;
  for (const auto& [store, augmented] :
       {std::pair{&images, false}, std::pair{&images, true}, std::pair{&others, false}}) {
    ToyOptions options;
    options.sizes = {20};
    options.correction = part("elastic");
    options.batch_norm = true;
    options.adjust = [store = store, augmented = augmented](DriverSetup& setup) {
      setup.clients[0].store = store;
      if (augmented) setup.rules.augmentation = {.flips = true, .padding = 2};
    };
    options.after_end = [&](LocalContext&, ClientUpdate& update) {
      omegas.push_back(update.note.at("omega").clone());
      deltas.push_back(update.delta.clone());
    };
    ToyFederation federation(std::move(options));
    federation.round(1, {0});
  }
  ASSERT_EQ(omegas.size(), 3U);
  EXPECT_TRUE(omegas[0].equal(omegas[1]));
  EXPECT_FALSE(omegas[0].equal(omegas[2]));
  EXPECT_GT(largest(deltas[0].sub(deltas[1])), 0);
}

// U50: the schedule acts on the round, whoever takes part: in round 3 at rate 0 nobody moves,
// client 2 neither, which is there for the first time.
TEST(Schedule, ActsOnEveryClientOfARound) {
  ToyOptions options;
  options.optimizer = part("sgd", {{"lr", 0.1}});
  options.adjust = [](DriverSetup& setup) {
    setup.learning_rate_factor = [](std::int64_t round) {
      return round == 3 ? 0 : 1.0 / static_cast<double>(round);
    };
  };
  ToyFederation federation(std::move(options));
  EXPECT_DOUBLE_EQ(federation.round(1, {0, 1}).learning_rate, 0.1);
  EXPECT_DOUBLE_EQ(federation.round(2, {0, 1}).learning_rate, 0.05);
  const auto before = federation.model();
  EXPECT_EQ(federation.round(3, {1, 2}).learning_rate, 0);
  EXPECT_EQ(federation.model(), before);
  federation.round(4, {1, 2});
  EXPECT_NE(federation.model(), before);
}

// Half the rate, one step: half the way.
TEST(Schedule, ScalesTheStep) {
  std::vector<at::Tensor> steps;
  for (const double factor : {1.0, 0.5}) {
    ToyOptions options;
    options.sizes = {8};
    options.steps = 1;
    options.adjust = [factor](DriverSetup& setup) {
      setup.learning_rate_factor = [factor](std::int64_t) { return factor; };
    };
    ToyFederation federation(std::move(options));
    const at::Tensor before = federation.driver->global().clone();
    federation.round(1, {0});
    steps.push_back(federation.driver->global().sub(before));
  }
  EXPECT_LT(largest(steps[0].mul(0.5).sub(steps[1])), 1e-16);
}

// U50: one worker trains clients one after another; in either order each client's update is
// the same, with momentum, Adam and every correction's state around.
TEST(Worker, TrainsClientsAlikeInEitherOrder) {
  for (const char* name : {"none", "scaffold", "feddyn", "moon", "elastic", "fedprox"}) {
    for (const Part& optimizer :
         {part("sgd", {{"momentum", 0.9}, {"weight_decay", 0.01}}), part("adam"), part("adamw")}) {
      if (std::string(name) == "scaffold" && optimizer.name != "sgd") continue;
      std::vector<std::vector<std::vector<double>>> sent;
      // Longest first: a third client comes before the two or after them.
      for (const bool before : {false, true}) {
        std::vector<std::vector<double>> updates(2);
        ToyOptions options;
        options.sizes = {12, 9, 20};
        options.correction = part(name);
        options.optimizer = optimizer;
        options.batch_norm = true;
        options.workers = 1;
        options.adjust = [before](DriverSetup& setup) {
          setup.clients[2].samples.resize(before ? 20 : 3);
        };
        options.after_end = [&updates](LocalContext& context, ClientUpdate& update) {
          if (context.client > 1) return;
          const auto* from = update.delta.data_ptr<double>();
          updates[static_cast<std::size_t>(context.client)].assign(from,
                                                                   from + update.delta.numel());
        };
        ToyFederation federation(std::move(options));
        federation.round(1, {0, 1, 2});
        sent.push_back(updates);
      }
      EXPECT_EQ(sent[0], sent[1]) << name << " " << optimizer.name;
    }
  }
}

}  // namespace
}  // namespace fedvg
