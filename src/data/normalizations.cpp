#include <string>
#include <vector>

#include "data/normalization.h"
#include "data/wording.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

class AsTheyAre final : public Normalization {
 public:
  explicit AsTheyAre(const NoOptions&) {}
  ChannelStatistics statistics(const Samples&, std::span<const std::int64_t>,
                               std::int64_t) const override {
    return {};
  }
};

class ByTrainingSet final : public Normalization {
 public:
  explicit ByTrainingSet(const NoOptions&) {}

  ChannelStatistics statistics(const Samples& samples, std::span<const std::int64_t> training,
                               std::int64_t channels) const override {
    auto own = channel_statistics(samples, training);
    return channels == samples.channels ? own : repeated(own, channels);
  }
};

struct GivenOptions {
  std::vector<double> mean;
  std::vector<double> std;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("mean", &GivenOptions::mean,
          "of each channel, in units of [0, 1]; of each feature in its own");
    visit("std", &GivenOptions::std, above(0), "standard deviation of each");
  }
};

class Given final : public Normalization {
 public:
  explicit Given(const GivenOptions& options) : given_{options.mean, options.std} {
    if (!given_.mean.empty() && given_.mean.size() == given_.deviation.size()) return;
    throw OptionError("data.normalize: mean has " + counted(std::ssize(given_.mean), "number") +
                      " and std " + std::to_string(given_.deviation.size()) +
                      "; wanted one of each for every channel");
  }

  ChannelStatistics statistics(const Samples& samples, std::span<const std::int64_t>,
                               std::int64_t channels) const override {
    const auto count = static_cast<std::int64_t>(given_.mean.size());
    if (count == channels) return given_;
    const bool is_gray = samples.channels == 1 && !samples.is_features;
    if (count == 1 && is_gray) return repeated(given_, channels);
    const std::string thing = samples.is_features ? "feature" : "channel";
    throw OptionError("data.normalize: mean and std have " +
                      counted(std::ssize(given_.mean), "number") + ", the data " +
                      counted(samples.channels, thing) +
                      (channels == samples.channels
                           ? ""
                           : ", repeated to " + std::to_string(channels) + " for the model") +
                      "; wanted one number for each " + thing);
  }

 private:
  ChannelStatistics given_;
};

FEDVG_REGISTER(Normalization, "none", AsTheyAre, NoOptions,
               "images are bytes / 255, features as they are");
FEDVG_REGISTER(Normalization, "dataset", ByTrainingSet, NoOptions,
               "standardised by mean and deviation of the training set, by channel or feature");
FEDVG_REGISTER(Normalization, "given", Given, GivenOptions,
               "standardised by numbers of one's own: {mean = [...], std = [...]}");

}  // namespace
}  // namespace fedvg
