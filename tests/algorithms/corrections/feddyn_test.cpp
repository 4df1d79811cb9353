#include <gtest/gtest.h>

#include "algorithms/corrections/testing.h"

namespace fedvg {
namespace {

using namespace testing;

/// What FedDyn makes of a gradient of 1 with w_local = 2, w = 1 and h_k = 0.5.
double with(std::initializer_list<std::pair<const char*, Value>> options) {
  LocalRound local;
  local.context.parameters = local.vector({{2}});
  local.context.global = local.vector({{1}});
  local.state["h"] = local.vector({{0.5}});
  const auto feddyn = correction("feddyn", options);
  feddyn->begin(local.context);
  local.context.gradient = local.vector({{1}});
  feddyn->grad(local.context);
  return local.gradient()[0];
}

// 1 + 0.1 (0.5 + 2 - 1) = 1.15; without w_local 1 + 0.1 (0.5 - 1) = 0.95.
TEST(FedDyn, PullsByThePastAndToTheGlobalModel) {
  EXPECT_DOUBLE_EQ(with({}), 1.15);
  EXPECT_DOUBLE_EQ(with({{"alpha", 0.1}, {"proximal", false}}), 0.95);
  EXPECT_DOUBLE_EQ(with({{"alpha", 0.0}}), 1);
}

TEST(FedDyn, StartsWithoutAPast) {
  EXPECT_DOUBLE_EQ(corrected(*correction("feddyn"), 2, 1, 1), 1.1);
}

// (30, 40) has norm 50: times 10 / (50 + 1e-6). A norm of 5 stays; 0 does not clip.
TEST(FedDyn, ClipsTheCorrectedGradient) {
  const auto clipped = [](double limit, double scale) {
    LocalRound local({2});
    const auto feddyn = correction("feddyn", {{"alpha", 0.0}, {"max_grad_norm", limit}});
    feddyn->begin(local.context);
    local.context.gradient = local.vector({{30 * scale, 40 * scale}});
    feddyn->grad(local.context);
    return local.gradient();
  };
  EXPECT_DOUBLE_EQ(clipped(10, 1)[0], 30 * (10 / 50.000001));
  EXPECT_DOUBLE_EQ(clipped(10, 1)[1], 40 * (10 / 50.000001));
  EXPECT_EQ(clipped(10, 0.1), (std::vector<double>{3, 4}));
  EXPECT_EQ(clipped(0, 1), (std::vector<double>{30, 40}));
}

// The clip sees the correction: task gradient 0, alpha 10, w_local - w = 3, limit 10: 30 is
// cut to 30 * 10 / 30.000001.
TEST(FedDyn, ClipsAfterTheCorrection) {
  EXPECT_DOUBLE_EQ(corrected(*correction("feddyn", {{"alpha", 10.0}}), 3, 0, 0),
                   30 * (10 / 30.000001));
}

TEST(FedDyn, GathersAClientsUpdates) {
  const auto feddyn = correction("feddyn");
  LocalRound first;
  first.update.delta = first.vector({{2}});
  feddyn->begin(first.context);
  feddyn->end(first.context, first.update);
  EXPECT_EQ(numbers(first.layout, first.context.next_state.at("h"))[0], 2);

  LocalRound second;
  second.state = first.context.next_state;
  second.update.delta = second.vector({{-0.5}});
  feddyn->begin(second.context);
  feddyn->end(second.context, second.update);
  EXPECT_EQ(numbers(second.layout, second.context.next_state.at("h"))[0], 1.5);
  EXPECT_EQ(numbers(second.layout, second.state.at("h"))[0], 2);  // the old one is untouched
}

/// A server with N = 10 clients.
struct Server {
  Layout layout = layout_of_sizes({1});
  at::Tensor global = at::zeros({layout.size()}, at::kDouble);
  std::unique_ptr<Correction> feddyn = correction("feddyn");

  Round round() const { return {1, 10, global, layout, {}}; }
  void accept(double delta) {
    ClientUpdate update{.samples = 1, .steps = 1};
    update.delta = flat(layout, {{delta}});
    feddyn->accept(update);
  }
  double after(double average) {
    at::Tensor w = flat(layout, {{average}});
    feddyn->after_step(round(), w);
    return numbers(layout, w)[0];
  }
};

// U43: N = 10, from 1.0 two clients return 2.0 and 4.0: the sum of h_k over N is 0.4, the
// mean of the participants' models 3.0, the new model 3.4 (by participants it would be 5).
TEST(FedDyn, AveragesThePastOverAllClients) {
  Server server;
  server.accept(1);
  server.accept(3);
  EXPECT_DOUBLE_EQ(server.after(3), 3.4);
  EXPECT_DOUBLE_EQ(numbers(server.layout, server.feddyn->state().at("sum"))[0] / 10, 0.4);

  // Round 2, one participant moves by 2: (4 + 2) / 10 on top of its model 5.4.
  server.accept(2);
  EXPECT_DOUBLE_EQ(server.after(5.4), 6.0);
}

TEST(FedDyn, ForgetsTheUpdatesOfAVoidRound) {
  Server server;
  server.accept(1);
  server.feddyn->abandon(server.round());
  EXPECT_EQ(server.after(3), 3);
  EXPECT_TRUE(server.feddyn->state().empty());
}

TEST(FedDyn, GoesOnFromASavedSum) {
  Server server, other;
  server.accept(4);
  server.after(0);
  other.feddyn->restore(server.feddyn->state());
  server.accept(1);
  other.accept(1);
  EXPECT_EQ(server.after(2), 2.5);
  EXPECT_EQ(other.after(2), 2.5);
}

TEST(FedDyn, RefusesOptionsOutOfBounds) {
  EXPECT_THROW(correction("feddyn", {{"alpha", -0.1}}), OptionError);
  EXPECT_THROW(correction("feddyn", {{"max_grad_norm", -1.0}}), OptionError);
}

}  // namespace
}  // namespace fedvg
