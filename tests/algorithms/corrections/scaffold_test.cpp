#include <gtest/gtest.h>

#include "algorithms/corrections/testing.h"

namespace fedvg {
namespace {

using namespace testing;

/// A client that walked from w = 1 to w_local in `path` steps' length at rate 0.1.
struct Walk : LocalRound {
  std::unique_ptr<Correction> scaffold = correction("scaffold");

  Walk(double w_local, double path) {
    context.learning_rate = 0.1;
    context.global = vector({{1}});
    update.delta = vector({{w_local - 1}});
    update.path = path;
  }
  double next_c() {
    scaffold->begin(context);
    scaffold->end(context, update);
    return numbers(layout, context.next_state.at("c"))[0];
  }
  double change() const { return numbers(layout, update.extra.at("dc"))[0]; }
};

// U35: rate 0.1, 2 epochs of 3 batches, from 1.0 to 0.4, c = c_k = 0:
// c_k+ = 0.6 / (6 * 0.1) = 1. Counting epochs gives 3, batches 2.
TEST(Scaffold, DividesByTheStepsReallyTaken) {
  Walk walk(0.4, 6);
  EXPECT_NEAR(walk.next_c(), 1.0, 1e-15);
  EXPECT_NEAR(walk.change(), 1.0, 1e-15);
}

// c = 0.5, c_k = 0.2: c_k+ = 0.2 - 0.5 + 0.6 / 0.6 = 0.7, a change of 0.5.
TEST(Scaffold, TakesItsOwnAndTheServersControlIntoAccount) {
  Walk walk(0.4, 6);
  walk.inbox["c"] = walk.vector({{0.5}});
  walk.state["c"] = walk.vector({{0.2}});
  EXPECT_NEAR(walk.next_c(), 0.7, 1e-15);
  EXPECT_NEAR(walk.change(), 0.5, 1e-15);
}

// U38: three steps with momentum 0.9 under a gradient of 1 go 1 + 1.9 + 2.71 = 5.61 rates
// far; a client that walked 0.561 at rate 0.1 has seen a gradient of 1, not of 1.87.
TEST(Scaffold, CountsTheLengthThatMomentumAddsToThePath) {
  const double path = *local_optimizer("sgd", {{"momentum", 0.9}})->path_length(3);
  EXPECT_NEAR(path, 5.61, 1e-12);
  Walk walk(1 - 0.561, path);
  EXPECT_NEAR(walk.next_c(), 1.0, 1e-12);
}

// gradient 1 + c 0.5 - c_k 0.2 = 1.3.
TEST(Scaffold, AddsTheDifferenceOfTheControls) {
  LocalRound local;
  local.inbox["c"] = local.vector({{0.5}});
  local.state["c"] = local.vector({{0.2}});
  const auto scaffold = correction("scaffold");
  scaffold->begin(local.context);
  local.context.gradient = local.vector({{1}});
  scaffold->grad(local.context);
  EXPECT_DOUBLE_EQ(local.gradient()[0], 1.3);
}

// U05: a rate of 0 walks nowhere; there is nothing to divide by and nothing to learn.
TEST(Scaffold, LearnsNothingAtRateZero) {
  Walk walk(1, 6);
  walk.context.learning_rate = 0;
  walk.scaffold->begin(walk.context);
  walk.scaffold->end(walk.context, walk.update);
  EXPECT_TRUE(walk.context.next_state.empty());
  EXPECT_TRUE(walk.update.extra.empty());
}

/// A server with N = 10 clients.
struct Server {
  Layout layout = layout_of_sizes({1});
  at::Tensor w = at::zeros({layout.size()}, at::kDouble);
  std::unique_ptr<Correction> scaffold = correction("scaffold");

  Round round() const { return {1, 10, w, layout, {}}; }
  void accept(double change) {
    ClientUpdate update{.samples = 1, .steps = 1};
    update.extra["dc"] = flat(layout, {{change}});
    scaffold->accept(update);
  }
  double c() const { return numbers(layout, scaffold->state().at("c"))[0]; }
};

// U36: N = 10, two participants with changes 1 and 3: c = 4 / 10. The model is not touched.
TEST(Scaffold, DividesTheChangesByAllClients) {
  Server server;
  EXPECT_TRUE(server.scaffold->state().empty());
  server.accept(1);
  server.accept(3);
  at::Tensor w = flat(server.layout, {{5}});
  server.scaffold->after_step(server.round(), w);
  EXPECT_DOUBLE_EQ(server.c(), 0.4);
  EXPECT_EQ(numbers(server.layout, w)[0], 5);
  EXPECT_DOUBLE_EQ(numbers(server.layout, server.scaffold->broadcast().at("c"))[0], 0.4);

  server.accept(0);  // took part again, c_k unchanged
  server.scaffold->after_step(server.round(), w);
  EXPECT_DOUBLE_EQ(server.c(), 0.4);
}

TEST(Scaffold, ForgetsTheChangesOfAVoidRound) {
  Server server;
  server.accept(1);
  server.scaffold->abandon(server.round());
  server.scaffold->after_step(server.round(), server.w);
  EXPECT_TRUE(server.scaffold->state().empty());
}

TEST(Scaffold, GoesOnFromASavedControl) {
  Server server, other;
  server.accept(1);
  server.scaffold->after_step(server.round(), server.w);
  other.scaffold->restore(server.scaffold->state());
  for (Server* one : {&server, &other}) {
    one->accept(2);
    one->scaffold->after_step(one->round(), one->w);
    EXPECT_NEAR(one->c(), 0.3, 1e-15);
  }
}

// In the precision of the clients, before any of them was heard again.
TEST(Scaffold, SendsASavedControlAsBefore) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    Server server, other;
    ClientUpdate update{.samples = 1, .steps = 1};
    update.extra["dc"] = flat(server.layout, {{1.0 / 3}}).to(type);
    server.scaffold->accept(update);
    server.scaffold->after_step(server.round(), server.w);
    other.scaffold->restore(server.scaffold->state());
    const at::Tensor sent = server.scaffold->broadcast().at("c"),
                     again = other.scaffold->broadcast().at("c");
    EXPECT_EQ(sent.scalar_type(), type);
    EXPECT_EQ(again.scalar_type(), type);
    EXPECT_TRUE(again.equal(sent));
  }
}

// U38: Adam's steps do not say how large the gradient was, nor do those of a velocity that
// was there before the round.
TEST(Scaffold, RefusesLocalStepsOfUnknownLength) {
  const auto scaffold = correction("scaffold");
  for (const char* name : {"adam", "adamw"}) {
    EXPECT_THROW(scaffold->check(*local_optimizer(name), false), OptionError);
  }
  const auto momentum = local_optimizer("sgd", {{"momentum", 0.9}});
  EXPECT_NO_THROW(scaffold->check(*momentum, false));
  EXPECT_THROW(scaffold->check(*momentum, true), OptionError);
  EXPECT_NO_THROW(scaffold->check(*local_optimizer("sgd"), true));
}

}  // namespace
}  // namespace fedvg
