// BatchNorm's buffers under every method.

#include <gtest/gtest.h>

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/every_method.h"
#include "toy_federation.h"

namespace fedvg {
namespace {

using testing::every_method;
using testing::ToyFederation;
using testing::ToyOptions;
using testing::Wrapped;

constexpr std::size_t kMean = 0, kVariance = 1, kCounter = 2;

ToyOptions toy(const std::string& method) {
  ToyOptions options;
  options.use(compose_method(method));
  options.batch_norm = true;
  options.dtype = at::kFloat;
  return options;
}

/// Clients that all send these values.
Wrapped::AfterEnd sending(std::function<void(std::int64_t client, Tensors& buffers)> fill) {
  return
      [fill](LocalContext& context, ClientUpdate& update) { fill(context.client, update.buffers); };
}

// U15: the variance starts at 1, clients always report 0.1. Server momentum, adaptive steps,
// controls, sums over past updates, factors of columns: none reaches the buffers.
TEST(BatchNorm, BuffersArePlainlyAveraged) {
  for (const auto& method : every_method()) {
    ToyOptions options = toy(method);
    options.after_end = sending([](std::int64_t, Tensors& buffers) {
      buffers[kMean].fill_(-3);
      buffers[kVariance].fill_(0.1);
    });
    ToyFederation federation(std::move(options));
    EXPECT_EQ(federation.driver->buffers()[kVariance][0].item<float>(), 1.0F);
    for (std::int64_t r = 1; r <= 3; ++r) {
      federation.round(r, {0, 1, 2});
      const auto& buffers = federation.driver->buffers();
      for (std::int64_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(buffers[kVariance][i].item<double>(), 0.1, 1e-6) << method;
        EXPECT_NEAR(buffers[kMean][i].item<double>(), -3, 1e-5) << method;
      }
    }
    std::vector<std::int64_t> ids{0, 1, 2, 3};
    EXPECT_TRUE(
        std::isfinite(federation.driver->evaluate(*federation.store, ids, federation.stop).loss))
        << method;
  }
}

// U12, U13: counters 10 and 21 make an int64 without dimensions between them; 16 (15.5, to
// even) where both clients count alike.
TEST(BatchNorm, CountersStayWhole) {
  for (const auto& method : every_method()) {
    ToyOptions options = toy(method);
    options.sizes = {12, 12};
    options.after_end = sending([](std::int64_t client, Tensors& buffers) {
      buffers[kCounter].fill_(client == 0 ? 10 : 21);
    });
    ToyFederation federation(std::move(options));
    for (std::int64_t r = 1; r <= 2; ++r) {
      federation.round(r, {0, 1});
      const at::Tensor& counter = federation.driver->buffers()[kCounter];
      EXPECT_EQ(counter.scalar_type(), at::kLong) << method;
      EXPECT_EQ(counter.dim(), 0) << method;
      const auto count = counter.item<std::int64_t>();
      EXPECT_GE(count, 10) << method;
      EXPECT_LE(count, 21) << method;
      if (method.find("fedvg") == std::string::npos) {
        EXPECT_EQ(count, 16) << method;
      }
    }
  }
}

// U14: mean 0 of 10 samples and 10 of 30: 7.5, in either order of arrival.
TEST(BatchNorm, StatisticsAreWeighted) {
  for (const bool swapped : {false, true}) {
    ToyOptions options = toy("fedavg");
    options.sizes = {10, 30};
    if (swapped) options.sizes = {30, 10};
    options.after_end = sending([swapped](std::int64_t client, Tensors& buffers) {
      buffers[kMean].fill_((client == 1) != swapped ? 10 : 0);
    });
    ToyFederation federation(std::move(options));
    federation.round(1,
                     swapped ? std::vector<std::int64_t>{1, 0} : std::vector<std::int64_t>{0, 1});
    EXPECT_EQ(federation.driver->buffers()[kMean][0].item<double>(), 7.5);
  }
}

// The buffers that arrive are those of training: with one client of two batches the counter
// says 2 an epoch.
TEST(BatchNorm, CountersCountTheTrainingBatches) {
  for (const auto& method : every_method()) {
    if (method.rfind("elastic", 0) == 0) continue;  // its probe takes samples away
    ToyOptions options = toy(method);
    options.sizes = {16};
    options.epochs = 3;
    ToyFederation federation(std::move(options));
    federation.round(1, {0});
    EXPECT_EQ(federation.driver->buffers()[kCounter].item<std::int64_t>(), 6) << method;
    federation.round(2, {0});
    EXPECT_EQ(federation.driver->buffers()[kCounter].item<std::int64_t>(), 12) << method;
  }
}

// U17: clients with 1, 2, 33 and 65 samples, batch 32: rounds end for every method, the
// client of one sample takes no step.
TEST(BatchNorm, BearsBatchesOfOne) {
  for (const auto& method : every_method()) {
    ToyOptions options = toy(method);
    options.sizes = {1, 2, 33, 65};
    options.batch_size = 32;
    options.epochs = 1;
    ToyFederation federation(std::move(options));
    for (std::int64_t r = 1; r <= 2; ++r) {
      const auto record = federation.round(r, {0, 1, 2, 3});
      EXPECT_EQ(record.clients[0].status, "no-steps") << method;
      EXPECT_EQ(record.clients[0].weight, 0) << method;
      EXPECT_EQ(record.clients[1].steps, 1) << method;
      EXPECT_EQ(record.rejected, 0) << method;
    }
    for (const double value : federation.everything()) ASSERT_TRUE(std::isfinite(value)) << method;
  }
}

// A round in which nobody takes a step is void, for every method.
TEST(BatchNorm, DeclaresARoundOfSingleSamplesVoid) {
  for (const auto& method : every_method()) {
    ToyOptions options = toy(method);
    options.sizes = {1, 1, 8};
    ToyFederation federation(std::move(options));
    const auto before = federation.everything();
    EXPECT_TRUE(federation.round(1, {0, 1}).is_void) << method;
    EXPECT_EQ(federation.everything(), before) << method;
  }
}

/// 3 classes of 4x4 images: noise, and a bright quarter that tells the class.
std::unique_ptr<TensorStore> bright_quarters(std::int64_t count, Random& random) {
  at::Tensor x = at::empty({count, 1, 4, 4}, at::kDouble), y = at::empty({count}, at::kLong);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = 0.7 * random.normal();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = i % 3;
    x[i][0].narrow(0, 2 * (label / 2), 2).narrow(1, 2 * (label % 2), 2).add_(1);
    y.data_ptr<std::int64_t>()[i] = label;
  }
  return std::make_unique<TensorStore>(x.to(at::kFloat), y);
}

/// Test losses over 20 rounds of FedAvg: 10 clients of about 24 samples, either with equal
/// shares of each class or with shares drawn from Dirichlet(alpha).
std::vector<double> losses(std::uint64_t seed, double alpha) {
  Random random(seed, "near-iid");
  const auto store = bright_quarters(240, random);
  const auto test = bright_quarters(240, random);
  ToyOptions options;
  options.seed = seed;
  options.dtype = at::kFloat;
  options.sizes.assign(10, 1);
  options.epochs = 1;
  options.batch_size = 10;
  options.optimizer = testing::part("sgd", {{"lr", 0.1}});
  options.adjust = [&](DriverSetup& setup) {
    setup.build_model = [] {
      auto network = std::make_unique<Network>();
      network->conv2d("conv", 1, 6, 3, 1, 1).batch_norm("bn", 6).relu().max_pool(2).flatten();
      network->linear("head", 24, 3);
      return network;
    };
    for (auto& client : setup.clients) client = {.store = store.get()};
    std::vector<std::vector<double>> cut(3);  // for each class, where a client's share ends
    for (auto& ends : cut) {
      double sum = 0;
      for (int k = 0; k < 10; ++k) {
        ends.push_back(sum += alpha > 0 ? std::exp(random.log_gamma_variate(alpha)) : 1.0);
      }
      for (double& end : ends) end /= sum;
    }
    for (std::int64_t i = 0; i < 240; ++i) {
      const auto& ends = cut[static_cast<std::size_t>(i % 3)];
      const double place = (static_cast<double>(i / 3) + 0.5) / 80;
      const auto owner = std::upper_bound(ends.begin(), ends.end() - 1, place) - ends.begin();
      setup.clients[static_cast<std::size_t>(owner)].samples.push_back(i);
    }
  };
  ToyFederation federation(std::move(options));
  std::vector<std::int64_t> ids(240), everybody(10);
  std::iota(ids.begin(), ids.end(), 0);
  std::iota(everybody.begin(), everybody.end(), 0);
  std::vector<double> result;
  for (std::int64_t r = 1; r <= 20; ++r) {
    federation.round(r, everybody);
    result.push_back(federation.driver->evaluate(*test, ids, federation.stop).loss);
  }
  return result;
}

// U16: near-IID clients (Dirichlet 100) learn as IID ones do, without leaps: in each of the
// last rounds their losses differ less than those of different seeds do.
TEST(BatchNorm, NearIidClientsLearnAsIidOnesDo) {
  std::vector<std::vector<double>> iid, near;
  for (const std::uint64_t seed : {1, 2, 3}) {
    iid.push_back(losses(seed, 0));
    near.push_back(losses(seed, 100));
    EXPECT_LT(iid.back().back(), 0.7 * iid.back().front());
  }
  for (std::size_t r = 10; r < 20; ++r) {
    double low = iid[0][r], high = iid[0][r], apart = 0;
    for (std::size_t s = 0; s < iid.size(); ++s) {
      low = std::min(low, iid[s][r]);
      high = std::max(high, iid[s][r]);
      apart = std::max(apart, std::abs(iid[s][r] - near[s][r]));
    }
    EXPECT_LT(apart, high - low) << r;
  }
}

// `reset`: each participant starts from fresh statistics: its counter counts its own batches
// only, whatever the model's says.
TEST(BatchNorm, ResetStartsEachParticipantAnew) {
  std::vector<std::int64_t> counts;
  ToyOptions options = toy("fedavg");
  options.sizes = {16};
  options.epochs = 1;
  options.after_end = [&counts](LocalContext&, ClientUpdate& update) {
    counts.push_back(update.buffers[kCounter].item<std::int64_t>());
  };
  options.adjust = [](DriverSetup& setup) { setup.rules.buffers = BufferRule::reset; };
  ToyFederation federation(std::move(options));
  for (std::int64_t r = 1; r <= 3; ++r) federation.round(r, {0});
  EXPECT_EQ(counts, (std::vector<std::int64_t>{2, 2, 2}));
}

}  // namespace
}  // namespace fedvg
