#include "fedvg/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

Table table(std::initializer_list<std::pair<const char*, Value>> entries) {
  Table result;
  for (const auto& [key, value] : entries) result.set(key, value);
  return result;
}

std::vector<double> rates(const std::string& name, const Table& options, std::int64_t rounds,
                          double rate = 1) {
  const auto schedule = Registry<Schedule>::instance().make(name, options);
  std::vector<double> result;
  for (std::int64_t r = 1; r <= rounds; ++r) result.push_back(rate * schedule->factor(r, rounds));
  return result;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-15) << i;
}

TEST(Schedule, ConstantStays) { EXPECT_EQ(rates("constant", {}, 3), (std::vector{1.0, 1.0, 1.0})); }

// U50: 0.1 halved every 2 rounds.
TEST(Schedule, StepFallsEachSoManyRounds) {
  expect_near(rates("step", table({{"every", 2}, {"factor", 0.5}}), 6, 0.1),
              {0.1, 0.1, 0.05, 0.05, 0.025, 0.025});
  expect_near(rates("step", table({{"every", 1}, {"factor", 0.1}}), 3), {1, 0.1, 0.01});
}

// (1 + cos(pi (r - 1) / 4)) / 2, and 0.2 + 0.8 of it.
TEST(Schedule, CosineFallsAlongHalfAWave) {
  const double half = std::sqrt(0.5);
  expect_near(rates("cosine", {}, 4), {1, (1 + half) / 2, 0.5, (1 - half) / 2});
  expect_near(rates("cosine", table({{"last", 0.2}}), 4),
              {1, 0.2 + 0.4 * (1 + half), 0.6, 0.2 + 0.4 * (1 - half)});
}

// A run that is continued beyond its rounds does not rise again.
TEST(Schedule, CosineStaysDown) {
  const auto cosine = Registry<Schedule>::instance().make("cosine");
  EXPECT_NEAR(cosine->factor(5, 4), 0, 1e-15);
  EXPECT_NEAR(cosine->factor(7, 4), 0, 1e-15);
}

// 1/4, 2/4, 3/4, then the other schedule from its first round: 1, 1, 0.5, 0.5.
TEST(Schedule, WarmUpRisesAndHandsOver) {
  const Table then = table({{"name", "step"}, {"every", 2}, {"factor", 0.5}});
  expect_near(rates("warm-up", table({{"rounds", 3}, {"then", then}}), 7),
              {0.25, 0.5, 0.75, 1, 1, 0.5, 0.5});
  expect_near(rates("warm-up", table({{"rounds", 1}}), 3), {0.5, 1, 1});
  // cosine over the 4 rounds that are left
  const Table cosine = table({{"name", "cosine"}});
  expect_near(rates("warm-up", table({{"rounds", 1}, {"then", cosine}}), 5),
              {0.5, 1, (1 + std::sqrt(0.5)) / 2, 0.5, (1 - std::sqrt(0.5)) / 2});
}

TEST(Schedule, RefusesOptionsOutOfBounds) {
  auto& registry = Registry<Schedule>::instance();
  EXPECT_THROW(registry.make("step", table({{"every", 0}})), OptionError);
  EXPECT_THROW(registry.make("step", table({{"factor", 0.0}})), OptionError);
  EXPECT_THROW(registry.make("cosine", table({{"last", 1.5}})), OptionError);
  EXPECT_THROW(registry.make("warm-up", table({{"rounds", 0}})), OptionError);
  EXPECT_THROW(registry.make("warm-up", table({{"then", table({{"name", "steps"}})}})),
               OptionError);
  EXPECT_THROW(registry.make("linear"), OptionError);
}

}  // namespace
}  // namespace fedvg
