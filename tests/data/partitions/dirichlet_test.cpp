#include <algorithm>
#include <chrono>
#include <cmath>

#include "data/partitions/testing.h"
#include "data/testing.h"

namespace fedvg {
namespace {

using testing::class_table;
using testing::draw;
using testing::expect_divided;
using testing::labels_by_class;
using testing::message_of;
using testing::request_for;
using testing::smallest_client;

Table alpha(double value) {
  Table options;
  options.set("alpha", value);
  return options;
}

// As many samples as Fashion-MNIST.
std::vector<std::int64_t> sixty_thousand() {
  return labels_by_class({6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000});
}

// With a huge alpha all proportions are 1/4: 10 of each class, whatever is drawn.
TEST(Dirichlet, OfAHugeAlphaIsEven) {
  const auto labels = labels_by_class({40, 40});
  const auto request = request_for(labels, 4, 0);
  const auto partition = draw(request, "dirichlet", alpha(1e9));
  expect_divided(partition, request);
  for (const auto& row : class_table(partition, request)) {
    EXPECT_EQ(row, (std::vector<std::int64_t>{10, 10}));
  }
}

// A proportion of a symmetric Dirichlet over n = 10 has mean 1/n and variance
// (1/n)(1 - 1/n)/(n alpha + 1): 0.015 for alpha 0.5, 0.045 for 0.1, 0.0082 for 1.
TEST(Dirichlet, ProportionsHaveTheRightVariance) {
  const auto labels = labels_by_class({1000});
  for (const double value : {0.1, 0.5, 1.0}) {
    double squares = 0;
    constexpr int draws = 2000;
    for (int seed = 0; seed < draws; ++seed) {
      const auto request = request_for(labels, 10, 0, static_cast<std::uint64_t>(seed));
      for (const auto& client : draw(request, "dirichlet", alpha(value)).clients) {
        const double distance = static_cast<double>(client.size()) / 1000 - 0.1;
        squares += distance * distance;
      }
    }
    EXPECT_NEAR(squares / (10 * draws), 0.09 / (10 * value + 1), 0.06 * 0.09 / (10 * value + 1));
  }
}

// Nobody who has an even share already gets of a further class: with two clients and a
// tiny alpha each class goes to one client, and the second class to the other one.
TEST(Dirichlet, WhoHasAnEvenShareGetsNoFurtherClass) {
  const auto labels = labels_by_class({50, 50});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto request = request_for(labels, 2, 0, seed);
    const auto partition = draw(request, "dirichlet", alpha(1e-6));
    EXPECT_EQ(partition.clients[0].size(), 50u);
    EXPECT_EQ(partition.clients[1].size(), 50u);
  }
}

TEST(Dirichlet, DividesWhatIsAvailableForEveryAlpha) {
  const auto labels = labels_by_class({300, 0, 17, 1});
  for (const double value : {1e-6, 1e-3, 0.05, 0.1, 1.0, 100.0, 1e9}) {
    auto request = request_for(labels, 20, 3);
    std::erase_if(request.available, [](std::int64_t i) { return i % 5 == 0; });
    const auto partition = draw(request, "dirichlet", alpha(value));
    expect_divided(partition, request);
    EXPECT_GE(smallest_client(partition), 3) << value;
  }
}

TEST(Dirichlet, RepeatsByTheSeedAndShufflesWithinAClass) {
  const auto labels = labels_by_class({100, 100});
  const auto first = draw(request_for(labels, 5, 0, 1), "dirichlet", alpha(1));
  EXPECT_EQ(draw(request_for(labels, 5, 0, 1), "dirichlet", alpha(1)).clients, first.clients);
  EXPECT_NE(draw(request_for(labels, 5, 0, 2), "dirichlet", alpha(1)).clients, first.clients);
  const auto even = draw(request_for(labels, 2, 0, 1), "dirichlet", alpha(1e9));
  EXPECT_GT(even.clients[0].back() - even.clients[0].front(), 120);  // not the first half
}

// U21: 1000 clients, 60,000 labels in 10 classes, alpha 0.1: no draw reaches 40 each.
TEST(Dirichlet, ReachesAMinimumThatRedrawingCannot) {
  const auto labels = sixty_thousand();
  const auto request = request_for(labels, 1000, 40);
  const auto start = std::chrono::steady_clock::now();
  const auto partition = draw(request, "dirichlet", alpha(0.1));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  expect_divided(partition, request);
  EXPECT_GE(smallest_client(partition), 40);
  ASSERT_EQ(partition.notes.size(), 1u);
  EXPECT_TRUE(partition.notes[0].starts_with("partition repaired: ")) << partition.notes[0];
  EXPECT_LT(seconds.count(), 10);
}

// U21
TEST(Dirichlet, RefusesAMinimumThatRedrawingCannotReachWhenTold) {
  const auto labels = sixty_thousand();
  auto request = request_for(labels, 1000, 40);
  request.refuse_short = true;
  const auto message = message_of<OptionError>([&] { draw(request, "dirichlet", alpha(0.1)); });
  for (const char* part : {"alpha = 0.1", "1000 clients", "min_samples = 40", "has 0"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

// U21
TEST(Dirichlet, RefusesAMinimumThatCannotExist) {
  const auto labels = sixty_thousand();
  const auto message = message_of<OptionError>(
      [&] { draw(request_for(labels, 1000, 100), "dirichlet", alpha(0.1)); });
  EXPECT_NE(message.find("need 1000 x 100 samples, but the clients have 60000"), std::string::npos)
      << message;
}

TEST(Dirichlet, GivesTenThousandClientsASampleEach) {
  const auto labels = sixty_thousand();
  const auto request = request_for(labels, 10'000, 1);
  const auto partition = draw(request, "dirichlet", alpha(0.1));
  expect_divided(partition, request);
  EXPECT_GE(smallest_client(partition), 1);
}

TEST(Dirichlet, AllowsMoreClientsThanSamples) {
  const auto labels = labels_by_class({5, 5});
  const auto request = request_for(labels, 50, 0);
  expect_divided(draw(request, "dirichlet", alpha(0.1)), request);
}

TEST(Dirichlet, RefusesAnAlphaThatIsNotPositive) {
  const auto labels = labels_by_class({5, 5});
  for (const double value : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(draw(request_for(labels, 2, 0), "dirichlet", alpha(value)), OptionError);
  }
}

}  // namespace
}  // namespace fedvg
