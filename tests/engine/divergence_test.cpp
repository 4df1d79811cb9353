// Models that explode: the run says so and keeps the last good model.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fedvg/error.h"
#include "toy_federation.h"

namespace fedvg {
namespace {

using testing::part;
using testing::Scripted;
using testing::ToyFederation;
using testing::ToyOptions;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_finite(const ToyFederation& federation) {
  for (const double value : federation.everything()) ASSERT_TRUE(std::isfinite(value));
}

ToyOptions feddyn(double rate, at::ScalarType dtype, bool batch_norm) {
  ToyOptions options;
  options.correction = part("feddyn");
  options.optimizer = part("sgd", {{"lr", rate}});
  options.dtype = dtype;
  options.batch_norm = batch_norm;
  options.epochs = 1;
  return options;
}

// U42: the table's defaults at rate 0.01 for 100 rounds.
TEST(Divergence, FedDynStaysFiniteAtItsDefaults) {
  for (const bool batch_norm : {false, true}) {
    ToyFederation federation(feddyn(0.01, at::kFloat, batch_norm));
    for (std::int64_t r = 1; r <= 100; ++r) {
      const auto record = federation.round(r, {r % 3, (r + 1) % 3});
      ASSERT_EQ(record.rejected, 0) << r;
      ASSERT_TRUE(std::isfinite(record.clients[0].loss_last));
    }
    expect_finite(federation);
  }
}

// U42: far too large rates. Whatever happens, the model is finite after every round, and a
// round that changed nothing is void or an error that says "diverged".
TEST(Divergence, FedDynNeverLeavesAModelThatIsNotFinite) {
  for (const double rate : {0.1, 10.0, 1e4, 1e20, 1e37}) {
    for (const bool batch_norm : {false, true}) {
      ToyFederation federation(feddyn(rate, at::kFloat, batch_norm));
      for (std::int64_t r = 1; r <= 30; ++r) {
        const auto before = federation.everything();
        try {
          const auto record = federation.round(r, {0, 1, 2});
          if (record.is_void) {
            EXPECT_EQ(federation.everything(), before);
            EXPECT_FALSE(record.void_reason.empty());
          }
        } catch (const RunError& problem) {
          EXPECT_NE(std::string(problem.what()).find("diverged in round " + std::to_string(r)),
                    std::string::npos);
          EXPECT_EQ(federation.everything(), before);
        }
        expect_finite(federation);
      }
    }
  }
}

// A server's step that overflows takes nothing along: momentum and sums are those of the
// round before, so the next round is as if this one had not been.
TEST(Divergence, LeavesEveryStateOfTheServerAsItWas) {
  for (const char* name : {"none", "feddyn"}) {
    std::vector<std::vector<double>> ends;
    for (const bool explode : {false, true}) {
      ToyOptions options;
      options.server = part("sgd", {{"lr", 1.0}, {"momentum", 0.9}});
      options.correction = part(name);
      options.dtype = at::kFloat;
      options.after_end = [](LocalContext& context, ClientUpdate& update) {
        // Finite as float32, and 1.9 times it is not.
        const double value = context.round == 2 ? 3e38 : 0.5;
        for (std::size_t l = 0; l < context.layout->tensors(); ++l) {
          context.layout->segment(update.delta, l).fill_(value);
        }
        if (context.next_state.contains("h")) context.next_state["h"] = update.delta.clone();
      };
      ToyFederation federation(std::move(options));
      federation.round(1, {0, 1, 2});
      if (explode) {
        const auto before = federation.everything();
        EXPECT_THROW(federation.round(2, {0, 1, 2}), RunError);
        EXPECT_EQ(federation.everything(), before);
      }
      federation.round(3, {0, 1, 2});
      federation.round(4, {0, 1});
      ends.push_back(federation.everything());
    }
    EXPECT_EQ(ends[0], ends[1]) << name;
  }
}

// What a client sends beside its update may be broken, too.
TEST(Divergence, LeavesOutAClientWhoseExtrasAreNotFinite) {
  ToyOptions options;
  options.correction = part("scaffold");
  options.after_end = [](LocalContext& context, ClientUpdate& update) {
    if (context.client == 1) update.extra.at("dc")[0].fill_(kNan);
  };
  ToyFederation scaffold(std::move(options));
  EXPECT_EQ(scaffold.round(1, {0, 1, 2}).clients[1].status, "not-finite");
  EXPECT_EQ(scaffold.round(2, {0, 1, 2}).rejected, 1);
  expect_finite(scaffold);

  ToyOptions other;
  other.correction = part("elastic");
  other.after_end = [](LocalContext& context, ClientUpdate& update) {
    if (context.client == 1) update.note.at("omega")[0].fill_(kNan);
  };
  ToyFederation elastic(std::move(other));
  EXPECT_EQ(elastic.round(1, {0, 1, 2}).clients[1].status, "not-finite");
  expect_finite(elastic);
}

// Too few updates for Krum's guarantee are a void round with its own reason.
TEST(Divergence, SaysWhyARobustRoundIsVoid) {
  ToyOptions options;
  options.sizes.assign(5, 6);
  options.scripted = std::make_unique<Scripted>([](std::int64_t round, std::int64_t client) {
    return client == 0 && round == 1 ? kNan : 1.0;
  });
  options.adjust = [](DriverSetup& setup) {
    setup.combiner = Registry<Combiner>::instance().make("krum");
  };
  ToyFederation federation(std::move(options));
  const auto before = federation.model();
  const auto record = federation.round(1, {0, 1, 2, 3, 4});
  EXPECT_TRUE(record.is_void);
  EXPECT_EQ(record.void_reason, "too few updates were accepted");
  EXPECT_EQ(federation.model(), before);
  EXPECT_FALSE(federation.round(2, {0, 1, 2, 3, 4}).is_void);
}

// A model whose tensors are finite and whose outputs are not predicts nothing, which is wrong.
TEST(Divergence, WhatIsNoNumberIsNoPrediction) {
  ToyOptions options;
  options.dtype = at::kFloat;
  options.scripted = std::make_unique<Scripted>([](std::int64_t, std::int64_t) { return 3e38; });
  ToyFederation federation(std::move(options));
  ASSERT_FALSE(federation.round(1, {0, 1, 2}).is_void);
  expect_finite(federation);
  const std::vector<std::int64_t> ids = {0, 1, 2, 3, 4, 5};
  Predictions predictions;
  const Evaluation evaluation =
      federation.driver->evaluate(*federation.store, ids, federation.stop, &predictions);
  EXPECT_FALSE(std::isfinite(evaluation.loss));
  EXPECT_EQ(evaluation.accuracy, 0);
  EXPECT_EQ(evaluation.balanced_accuracy, 0);
  EXPECT_EQ(evaluation.macro_auroc, std::nullopt);
  EXPECT_EQ(without_prediction(evaluation.confusion), 6);
  EXPECT_EQ(predictions.predicted, std::vector<std::int64_t>(6, kNoClass));
}

// Clients of one sample under BatchNorm: the reason names cause and remedy.
TEST(Divergence, SaysWhyNobodyTookAStep) {
  for (const bool batch_norm : {true, false}) {
    ToyOptions options;
    options.sizes = {1, 1, 1};
    options.batch_norm = batch_norm;
    ToyFederation federation(std::move(options));
    const auto record = federation.round(1, {0, 1, 2});
    EXPECT_EQ(record.is_void, batch_norm);
    if (!batch_norm) continue;
    EXPECT_NE(record.void_reason.find("BatchNorm has no statistics of a batch of one sample"),
              std::string::npos);
    EXPECT_NE(record.void_reason.find("partition.min_samples"), std::string::npos);
  }
}

// Statistics of D_val at a model that overflows inside: float32 weights of 1e30 make
// activations whose squares are not finite.
TEST(Divergence, RefusesStatisticsThatAreNotFinite) {
  for (const BufferRule rule : {BufferRule::local, BufferRule::reset}) {
    ToyOptions options;
    options.batch_norm = true;
    options.dtype = at::kFloat;
    options.scripted = std::make_unique<Scripted>([](std::int64_t, std::int64_t) { return 1e30; });
    options.adjust = [rule](DriverSetup& setup) { setup.rules.buffers = rule; };
    ToyFederation federation(std::move(options));
    const auto before = federation.everything();
    try {
      federation.round(1, {0, 1, 2});
      FAIL();
    } catch (const RunError& problem) {
      EXPECT_NE(std::string(problem.what()).find("diverged"), std::string::npos);
    }
    EXPECT_EQ(federation.everything(), before);
    expect_finite(federation);
  }
}

}  // namespace
}  // namespace fedvg
