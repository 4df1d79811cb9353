#include "engine/client_figures.h"

#include <gtest/gtest.h>

#include <vector>

namespace fedvg {
namespace {

// U53: accuracies 1, 1, 0 of 10, 10, 80 samples: mean 2/3, by samples 20/100; deviations 1/3, 1/3,
// -2/3, so sqrt((1 + 1 + 4)/9/3) = sqrt(2/9).
TEST(ClientFigures, TellMeansOverClientsAndSamplesApart) {
  const std::vector<ClientTally> clients = {{10, 10}, {10, 10}, {0, 80}};
  const ClientFigures figures = figures_of(clients);
  EXPECT_EQ(figures.clients, 3);
  EXPECT_DOUBLE_EQ(figures.mean, 2.0 / 3);
  EXPECT_DOUBLE_EQ(figures.weighted, 0.2);
  EXPECT_DOUBLE_EQ(figures.worst, 0);
  EXPECT_DOUBLE_EQ(figures.deviation, 0.4714045207910317);
  EXPECT_FALSE(figures.own_models);
}

TEST(ClientFigures, LeaveClientsWithoutSamplesOut) {
  const std::vector<ClientTally> clients = {{0, 0}, {1, 4}, {0, 0}, {3, 4}};
  const ClientFigures figures = figures_of(clients);
  EXPECT_EQ(figures.clients, 2);
  EXPECT_DOUBLE_EQ(figures.mean, 0.5);
  EXPECT_DOUBLE_EQ(figures.weighted, 0.5);
  EXPECT_DOUBLE_EQ(figures.worst, 0.25);
  EXPECT_DOUBLE_EQ(figures.deviation, 0.25);  // of both clients there are, not n - 1
}

// 11 clients of 10 samples with 0 to 10 right: the worst two have 0 and 0.1.
TEST(ClientFigures, TakeTheWorstTenthRoundedUp) {
  std::vector<ClientTally> clients;
  for (const std::int64_t right : {5, 10, 0, 7, 3, 1, 9, 2, 8, 6, 4})
    clients.push_back({right, 10});
  const ClientFigures figures = figures_of(clients);
  EXPECT_DOUBLE_EQ(figures.worst, 0.05);
  EXPECT_DOUBLE_EQ(figures.mean, 0.5);
  EXPECT_NEAR(figures.deviation, 0.31622776601683794, 1e-15);  // sqrt(110/11)/10
  const std::vector<std::pair<std::int64_t, std::int64_t>> tenths = {
      {0, 0}, {1, 1}, {9, 1}, {10, 1}, {11, 2}, {20, 2}, {21, 3}, {100, 10}};
  for (const auto& [number, worst] : tenths) EXPECT_EQ(worst_clients(number), worst) << number;
}

TEST(ClientFigures, AreOfOneClientItsAccuracy) {
  const std::vector<ClientTally> clients = {{3, 4}};
  const ClientFigures figures = figures_of(clients);
  EXPECT_EQ(figures.mean, 0.75);
  EXPECT_EQ(figures.weighted, 0.75);
  EXPECT_EQ(figures.worst, 0.75);
  EXPECT_EQ(figures.deviation, 0);
}

TEST(ClientFigures, OfNobodyAreZero) {
  const std::vector<ClientTally> nobody = {{0, 0}};
  for (const auto& figures : {figures_of({}), figures_of(nobody)}) {
    EXPECT_EQ(figures.clients, 0);
    EXPECT_EQ(figures.mean, 0);
    EXPECT_EQ(figures.deviation, 0);
  }
}

}  // namespace
}  // namespace fedvg
