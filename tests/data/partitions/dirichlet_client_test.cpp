#include <cmath>

#include "data/partitions/testing.h"
#include "data/testing.h"

namespace fedvg {
namespace {

using testing::class_table;
using testing::draw;
using testing::expect_divided;
using testing::labels_by_class;
using testing::request_for;

constexpr const char* scheme = "dirichlet-client";

Table alpha(double value) {
  Table options;
  options.set("alpha", value);
  return options;
}

// U23: two clients of exactly N/2 each, though the last classes left are improbable ones.
TEST(DirichletClient, TwoClientsGetExactlyHalfEach) {
  const auto labels = labels_by_class({10, 200, 3, 0, 87});
  for (const double value : {0.2, 100.0, 10'000.0}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto request = request_for(labels, 2, 10, seed);
      const auto partition = draw(request, scheme, alpha(value));
      expect_divided(partition, request);
      EXPECT_EQ(partition.clients[0].size(), 150u);
      EXPECT_EQ(partition.clients[1].size(), 150u);
    }
  }
}

// 11 = 3 + 3 + 3 + 2. Of so small an alpha every probability but one underflows.
TEST(DirichletClient, SizesDifferByAtMostOneForEveryAlpha) {
  const auto labels = labels_by_class({4, 0, 6, 1});
  for (const double value : {1e-6, 0.05, 1.0, 1e9}) {
    const auto request = request_for(labels, 4, 2);
    const auto partition = draw(request, scheme, alpha(value));
    expect_divided(partition, request);
    std::vector<std::size_t> sizes;
    for (const auto& client : partition.clients) sizes.push_back(client.size());
    EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 3, 2})) << value;
  }
}

// Each client draws 100 samples from a mixture of its own.
// A proportion over 4 classes has mean 1/4 and variance (1/4)(3/4) / (4 alpha + 1).
TEST(DirichletClient, MixturesHaveTheRightVariance) {
  const auto labels = labels_by_class({4000, 4000, 4000, 4000});
  for (const double value : {0.1, 0.5, 1.0}) {
    double squares = 0;
    constexpr int draws = 40, clients = 160;  // of 100 samples each
    for (int seed = 0; seed < draws; ++seed) {
      const auto request = request_for(labels, clients, 0, static_cast<std::uint64_t>(seed));
      const auto partition = draw(request, scheme, alpha(value));
      for (const auto& row : class_table(partition, request)) {
        for (const std::int64_t count : row) {
          const double distance = static_cast<double>(count) / 100 - 0.25;
          squares += distance * distance;
        }
      }
    }
    // E[(count / n - p)^2] adds p (1 - p) / n of the draws themselves; classes that run dry near
    // the end pull clients together a little, hence the tolerance.
    const double variance = 0.1875 / (4 * value + 1);
    const double expected = variance + (0.1875 - variance) / 100;
    EXPECT_NEAR(squares / (4.0 * clients * draws), expected, 0.12 * expected) << value;
  }
}

TEST(DirichletClient, OfAHugeAlphaIsIid) {
  const auto labels = labels_by_class({1000, 1000});
  const auto request = request_for(labels, 4, 0);
  for (const auto& row : class_table(draw(request, scheme, alpha(1e9)), request)) {
    EXPECT_EQ(row[0] + row[1], 500);
    EXPECT_NEAR(static_cast<double>(row[0]), 250, 50);
  }
}

// Until its class runs dry, a client takes no other: those of a class that few want have it alone.
TEST(DirichletClient, OfATinyAlphaHasFewClasses) {
  const auto labels = labels_by_class({1000, 1000, 1000});
  const auto request = request_for(labels, 30, 0);
  int pure = 0;
  for (const auto& row : class_table(draw(request, scheme, alpha(1e-6)), request)) {
    pure += *std::max_element(row.begin(), row.end()) == 100;
  }
  EXPECT_GE(pure, 5);  // none, were classes drawn alike
}

TEST(DirichletClient, RepeatsByTheSeed) {
  const auto labels = labels_by_class({100, 100});
  const auto first = draw(request_for(labels, 5, 0, 1), scheme, alpha(1));
  EXPECT_EQ(draw(request_for(labels, 5, 0, 1), scheme, alpha(1)).clients, first.clients);
  EXPECT_NE(draw(request_for(labels, 5, 0, 2), scheme, alpha(1)).clients, first.clients);
}

TEST(DirichletClient, AllowsMoreClientsThanSamplesAndRefusesTheImpossible) {
  const auto labels = labels_by_class({5, 5});
  const auto request = request_for(labels, 50, 0);
  expect_divided(draw(request, scheme, alpha(0.1)), request);
  EXPECT_THROW(draw(request_for(labels, 5, 3), scheme, alpha(0.1)), OptionError);
  EXPECT_THROW(draw(request, scheme, alpha(0)), OptionError);
  EXPECT_THROW(draw(request, scheme, alpha(std::nan(""))), OptionError);
}

}  // namespace
}  // namespace fedvg
