#include "algorithms/weighting/noisy_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "fedvg/random.h"

namespace fedvg {
namespace {

GroupNorms groups(std::int64_t all, std::vector<std::int64_t> images,
                  const std::vector<double>& norms) {
  GroupNorms result{all, std::move(images), {}};
  for (const double norm : norms) result.norms.push_back({norm});
  return result;
}

// One image a group, (3, 1) and (1, 1), so (2, 1) of both, l2: squares 10, 2 and 5.
// c = 10 + 2 - 2 * 5 = 2, the sum over coordinates of the images' sample variance, and
// a = 5 - 2 (1/2 - 1/10) = 4.2. r = 10 - 5 - 2 (1 - 1/2) = 4 and -4.
TEST(NoisyNorm, TakesTheNoiseOffByHand) {
  const auto estimate =
      estimate_norm(std::sqrt(5), groups(10, {1, 1}, {std::sqrt(10), std::sqrt(2)}), 0);
  EXPECT_NEAR(estimate.norm, std::sqrt(4.2), 1e-14);
  ASSERT_EQ(estimate.deviations.size(), 2U);
  EXPECT_NEAR(estimate.deviations[0], 4 / 8.4, 1e-14);
  EXPECT_NEAR(estimate.deviations[1], -4 / 8.4, 1e-14);
}

// (3, 1) of two images and (0, 1) of one: (2, 1) of the three, squares 10, 1 and 5.
// c = 2 * 10 + 1 - 3 * 5 = 6, a = 5 - 6 (1/3 - 1/12) = 3.5. r = 10 - 5 - 6 (1/2 - 1/3) = 4 and
// 1 - 5 - 6 (1 - 1/3) = -8, which weigh 2 and 1.
TEST(NoisyNorm, GroupsMayDifferInSize) {
  const auto estimate = estimate_norm(std::sqrt(5), groups(12, {2, 1}, {std::sqrt(10), 1}), 0);
  EXPECT_NEAR(estimate.norm, std::sqrt(3.5), 1e-14);
  EXPECT_NEAR(estimate.deviations[0], 4.0 / 7, 1e-14);
  EXPECT_NEAR(estimate.deviations[1], -8.0 / 7, 1e-14);
}

TEST(NoisyNorm, OverAllOfDvalIsItself) {
  const double whole = std::sqrt(5);
  const auto estimate = estimate_norm(whole, groups(2, {1, 1}, {std::sqrt(10), std::sqrt(2)}), 0);
  EXPECT_EQ(estimate.norm, whole);
  EXPECT_NEAR(estimate.deviations[0], 4.0 / 10, 1e-14);
  EXPECT_EQ(estimate_norm(whole, {}, 0).norm, whole);
}

TEST(NoisyNorm, LooksAtItsOwnColumn) {
  const GroupNorms two{10, {1, 1}, {{7, std::sqrt(10)}, {9, std::sqrt(2)}}};
  EXPECT_NEAR(estimate_norm(std::sqrt(5), two, 1).norm, std::sqrt(4.2), 1e-14);
}

// Opposite groups: all noise. What is left is what D_val's own sampling leaves, c/M with
// c = 1 + 1 - 2 * 0.01 = 1.98.
TEST(NoisyNorm, IsNotBelowTheNoiseOfDvalItself) {
  EXPECT_NEAR(estimate_norm(0.1, groups(200, {1, 1}, {1, 1}), 0).norm, std::sqrt(1.98 / 200),
              1e-14);
}

// Groups whose norms are smaller than that of all, as chance may have it, bring no correction.
TEST(NoisyNorm, IsNeverMadeLarger) {
  const auto estimate = estimate_norm(1, groups(100, {5, 5}, {0.9, 1}), 0);
  EXPECT_EQ(estimate.norm, 1);
  EXPECT_NEAR(estimate.deviations[0], (0.81 - 0.905) / 2, 1e-14);
  EXPECT_NEAR(estimate.deviations[1], (1 - 0.905) / 2, 1e-14);
}

TEST(NoisyNorm, OfNothingIsNothing) {
  const auto estimate = estimate_norm(0, groups(100, {5, 5}, {0, 0}), 0);
  EXPECT_EQ(estimate.norm, 0);
  EXPECT_EQ(estimate.deviations, (std::vector<double>{0, 0}));
}

// --- against D_val's own norm, on gradients of normal noise

using Vector = std::vector<double>;
using Norm = std::function<double(const Vector&)>;

double l1(const Vector& v) {
  return std::accumulate(v.begin(), v.end(), 0.0,
                         [](double sum, double x) { return sum + std::abs(x); });
}
double l2(const Vector& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}
double linf(const Vector& v) {
  return std::transform_reduce(
      v.begin(), v.end(), 0.0, [](double a, double b) { return std::max(a, b); },
      [](double x) { return std::abs(x); });
}

struct Bias {
  double raw = 0, corrected = 0;  ///< log(root of the mean square / D_val's norm)
};

/// Of 8 groups of 10 out of 320 images of 1000 coordinates, over 60 draws of the groups. A
/// coordinate's mean is `scale` times a normal variate, its noise of deviation `scale` times
/// `noise`; scales differ by coordinate, log-normal with the exponent `spread`.
Bias bias_of(const Norm& norm, double noise, double spread, double share_without_signal = 0) {
  constexpr std::size_t kAll = 320, kCoordinates = 1000, kGroup = 10, kGroups = 8;
  Random random(1, "test");
  std::vector<Vector> images(kAll, Vector(kCoordinates));
  Vector own(kCoordinates, 0.0);
  for (std::size_t i = 0; i < kCoordinates; ++i) {
    const double scale = std::exp(spread * random.normal());
    const double mean = random.uniform() < share_without_signal ? 0 : scale * random.normal();
    for (auto& image : images) {
      image[i] = mean + scale * noise * random.normal();
      own[i] += image[i] / kAll;
    }
  }
  const double wanted = norm(own);
  Bias bias;
  constexpr int kTrials = 60;
  for (int trial = 0; trial < kTrials; ++trial) {
    random.shuffle(std::span(images));
    GroupNorms shown{kAll, {}, {}};
    Vector sum(kCoordinates, 0.0);
    for (std::size_t j = 0; j < kGroups; ++j) {
      Vector group(kCoordinates, 0.0);
      for (std::size_t n = 0; n < kGroup; ++n) {
        for (std::size_t i = 0; i < kCoordinates; ++i) group[i] += images[j * kGroup + n][i];
      }
      for (std::size_t i = 0; i < kCoordinates; ++i) {
        group[i] /= kGroup;
        sum[i] += group[i] / kGroups;
      }
      shown.images.push_back(kGroup);
      shown.norms.push_back({norm(group)});
    }
    const double whole = norm(sum);
    const double corrected = estimate_norm(whole, shown, 0).norm;
    bias.raw += whole * whole / kTrials;
    bias.corrected += corrected * corrected / kTrials;
  }
  bias.raw = std::log(std::sqrt(bias.raw) / wanted);
  bias.corrected = std::log(std::sqrt(bias.corrected) / wanted);
  return bias;
}

TEST(NoisyNorm, OfL1AndL2IsRightOnAverage) {
  for (const auto& norm : {Norm(l1), Norm(l2)}) {
    for (const double spread : {0.0, 0.5}) {
      const Bias strong = bias_of(norm, 4, spread);  // the noise of 80 images: 0.45 of the signal
      EXPECT_GT(strong.raw, 0.04);
      EXPECT_NEAR(strong.corrected, 0, 0.01);
      const Bias weak = bias_of(norm, 0.5, spread);
      EXPECT_NEAR(weak.raw, 0, 0.005);
      EXPECT_NEAR(weak.corrected, 0, 0.005);
    }
  }
}

// Half of the coordinates without any signal: for l1 the law is an approximation.
TEST(NoisyNorm, OfASparseGradientIsNearlyRight) {
  const Bias first = bias_of(l1, 4, 0.5, 0.5);
  EXPECT_GT(first.raw, 0.1);
  EXPECT_NEAR(first.corrected, 0, 0.35 * first.raw);
  const Bias second = bias_of(l2, 4, 0.5, 0.5);
  EXPECT_GT(second.raw, 0.1);
  EXPECT_NEAR(second.corrected, 0, 0.01);
}

TEST(NoisyNorm, OfTheLargestNumberIsBetterThanWithout) {
  const Bias bias = bias_of(linf, 6, 0);
  EXPECT_GT(bias.raw, 0.05);
  EXPECT_LT(std::abs(bias.corrected), 0.5 * bias.raw);
}

}  // namespace
}  // namespace fedvg
