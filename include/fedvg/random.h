#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>

namespace fedvg {

/// One stream of random numbers, named by what it is for, never by the method: two runs
/// with one seed draw the same partition, model, cohorts and batch orders whatever else
/// differs. Streams of different names are independent; a stream's numbers depend on
/// its name alone, so nothing about streams needs to be saved. The numbers are the same
/// with every standard library: no std distribution is used.
class Random {
 public:
  /// `purpose` is a constant of the code ("partition", "cohort", "batches", …); `round`
  /// counts from 1 and `client` from 0; leave out what does not apply.
  explicit Random(std::uint64_t seed, std::string_view purpose, std::int64_t round = 0,
                  std::int64_t client = -1);

  std::uint64_t bits() { return engine_(); }
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in [0, n), n > 0, without bias.
  std::uint64_t below(std::uint64_t n);
  /// Mean 0, variance 1.
  double normal();
  /// Logarithm of a Gamma(shape, 1) variate, 0 < shape < infinity: of a tiny shape the
  /// variate itself would underflow to 0. Always finite.
  double log_gamma_variate(double shape);

  /// Fisher-Yates.
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace fedvg
