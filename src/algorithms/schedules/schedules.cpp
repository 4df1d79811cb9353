// Learning rates by round r of R:
//
//   constant   1
//   step       factor^floor((r - 1) / every)
//   cosine     last + (1 - last) (1 + cos(pi (r - 1) / R)) / 2
//   warm-up    r / (rounds + 1) for the first `rounds` rounds, then another schedule, which
//              counts its rounds from there

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "fedvg/registry.h"
#include "fedvg/schedule.h"

namespace fedvg {
namespace {

class Constant final : public Schedule {
 public:
  explicit Constant(const NoOptions&) {}
  double factor(std::int64_t, std::int64_t) const override { return 1; }
};

struct StepOptions {
  std::int64_t every = 10;
  double factor = 0.5;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("every", &StepOptions::every, at_least(1), "rounds between two changes");
    visit("factor", &StepOptions::factor, above(0), "of each change");
  }
};

class Step final : public Schedule {
 public:
  explicit Step(const StepOptions& options) : options_(options) {}
  double factor(std::int64_t round, std::int64_t) const override {
    return std::pow(options_.factor, static_cast<double>((round - 1) / options_.every));
  }

 private:
  StepOptions options_;
};

struct CosineOptions {
  double last = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("last", &CosineOptions::last, between(0, 1), "share of the rate that it falls towards");
  }
};

class Cosine final : public Schedule {
 public:
  explicit Cosine(const CosineOptions& options) : options_(options) {}
  double factor(std::int64_t round, std::int64_t rounds) const override {
    const double done =
        static_cast<double>(round - 1) / static_cast<double>(std::max<std::int64_t>(rounds, 1));
    const double wave = (1 + std::cos(std::numbers::pi * std::min(done, 1.0))) / 2;
    return options_.last + (1 - options_.last) * wave;
  }

 private:
  CosineOptions options_;
};

struct WarmUpOptions {
  std::int64_t rounds = 5;
  Part then{"constant", {}};

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("rounds", &WarmUpOptions::rounds, at_least(1), "rounds of a rising rate");
    visit("then", &WarmUpOptions::then, PartOf{"schedule"}, "what follows");
  }
};

class WarmUp final : public Schedule {
 public:
  explicit WarmUp(const WarmUpOptions& options)
      : rounds_(options.rounds), then_(Registry<Schedule>::instance().make(options.then)) {}
  double factor(std::int64_t round, std::int64_t rounds) const override {
    if (round <= rounds_) return static_cast<double>(round) / static_cast<double>(rounds_ + 1);
    return then_->factor(round - rounds_, rounds - rounds_);
  }

 private:
  std::int64_t rounds_;
  std::unique_ptr<Schedule> then_;
};

FEDVG_REGISTER(Schedule, "constant", Constant, NoOptions, "one learning rate for all rounds");
FEDVG_REGISTER(Schedule, "step", Step, StepOptions, "times a factor each so many rounds");
FEDVG_REGISTER(Schedule, "cosine", Cosine, CosineOptions, "half a cosine wave over all rounds");
FEDVG_REGISTER(Schedule, "warm-up", WarmUp, WarmUpOptions,
               "a rising start before another schedule");

}  // namespace
}  // namespace fedvg
