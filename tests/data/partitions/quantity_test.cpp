#include <algorithm>
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
using testing::smallest_client;

Table alpha(double value) {
  Table options;
  options.set("alpha", value);
  return options;
}

TEST(Quantity, OfAHugeAlphaIsEven) {
  const auto labels = labels_by_class({40, 40});
  const auto request = request_for(labels, 4, 0);
  const auto partition = draw(request, "quantity", alpha(1e9));
  expect_divided(partition, request);
  for (const auto& client : partition.clients) EXPECT_EQ(client.size(), 20u);
}

// The least alpha is at the end of the scale, and below it nothing is taken.
TEST(Quantity, OfTheLeastAlphaGivesOneClientEverything) {
  const auto labels = labels_by_class({40, 40});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::size_t largest = 0;
    const auto partition = draw(request_for(labels, 4, 0, seed), "quantity", alpha(1e-6));
    for (const auto& client : partition.clients) largest = std::max(largest, client.size());
    EXPECT_EQ(largest, 80u);
  }
  EXPECT_THROW(draw(request_for(labels, 4, 0), "quantity", alpha(5e-324)), OptionError);
}

// Sizes of 10 clients as shares have mean 0.1 and variance 0.09 / (10 alpha + 1).
TEST(Quantity, SizesHaveTheRightVariance) {
  const auto labels = labels_by_class({500, 500});
  for (const double value : {0.1, 1.0}) {
    double squares = 0;
    constexpr int draws = 2000;
    for (int seed = 0; seed < draws; ++seed) {
      const auto request = request_for(labels, 10, 0, static_cast<std::uint64_t>(seed));
      for (const auto& client : draw(request, "quantity", alpha(value)).clients) {
        const double distance = static_cast<double>(client.size()) / 1000 - 0.1;
        squares += distance * distance;
      }
    }
    EXPECT_NEAR(squares / (10 * draws), 0.09 / (10 * value + 1), 0.06 * 0.09 / (10 * value + 1));
  }
}

// A client of n samples has n / 2 of each class, give or take 4 deviations, sqrt(n) / 2 each.
TEST(Quantity, GivesEveryClientTheClassesAlike) {
  const auto labels = labels_by_class({5000, 5000});
  const auto request = request_for(labels, 10, 10);
  const auto partition = draw(request, "quantity", alpha(0.5));
  expect_divided(partition, request);
  std::size_t largest = 0;
  for (const auto& row : class_table(partition, request)) {
    const auto size = static_cast<double>(row[0] + row[1]);
    EXPECT_NEAR(static_cast<double>(row[0]), size / 2, 2 * std::sqrt(size));
    largest = std::max(largest, static_cast<std::size_t>(size));
  }
  EXPECT_GT(largest, 1500u);
}

TEST(Quantity, ReachesTheMinimumAndRepeatsByTheSeed) {
  const auto labels = labels_by_class({300, 300});
  const auto request = request_for(labels, 50, 5);
  const auto partition = draw(request, "quantity", alpha(0.05));
  expect_divided(partition, request);
  EXPECT_EQ(smallest_client(partition), 5);
  EXPECT_EQ(draw(request, "quantity", alpha(0.05)).clients, partition.clients);
  EXPECT_NE(draw(request_for(labels, 50, 5, 2), "quantity", alpha(0.05)).clients,
            partition.clients);
  EXPECT_THROW(draw(request_for(labels, 50, 13), "quantity", alpha(0.05)), OptionError);
}

}  // namespace
}  // namespace fedvg
