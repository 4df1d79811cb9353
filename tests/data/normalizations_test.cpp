#include "data/normalization.h"
#include "data/testing.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

const std::vector<std::int64_t> both{0, 1};

Samples gray() {
  return {.channels = 1, .height = 1, .width = 1, .pixels = {0, 255}, .labels = {0, 0}};
}

Samples rgb() {
  return {.channels = 3, .height = 1, .width = 1, .pixels = {0, 1, 2, 3, 4, 5}, .labels = {0, 0}};
}

Part given(const Array& mean, const Array& deviation) {
  return {"given", Table{{"mean", mean}, {"std", deviation}}};
}

ChannelStatistics of(const Part& part, const Samples& samples, std::int64_t channels) {
  return Registry<Normalization>::instance().make(part)->statistics(samples, both, channels);
}

void expect_refusal(const Part& part, const Samples& samples, std::int64_t channels,
                    std::initializer_list<const char*> words) {
  const auto message = testing::message_of<OptionError>([&] { of(part, samples, channels); });
  for (const char* word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << word << ": " << message;
  }
}

TEST(Normalization, NoneIsNothing) { EXPECT_TRUE(of({"none", {}}, gray(), 1).mean.empty()); }

TEST(Normalization, MeasuresTheTrainingPart) {
  EXPECT_EQ(of({"dataset", {}}, gray(), 1).mean, std::vector<double>{0.5});
  const auto three = of({"dataset", {}}, gray(), 3);
  EXPECT_EQ(three.mean, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(three.deviation, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(of({"dataset", {}}, rgb(), 3).mean.size(), 3u);
}

TEST(Normalization, TakesGivenNumbers) {
  const auto found = of(given({0.1, 0.2, 0.3}, {1, 2, 3}), rgb(), 3);
  EXPECT_EQ(found.mean, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(found.deviation, (std::vector<double>{1, 2, 3}));
}

// U32: three numbers are right for gray images when they are repeated, and one is too.
TEST(Normalization, TakesOneOrThreeNumbersForRepeatedGrayImages) {
  EXPECT_EQ(of(given({0.1, 0.2, 0.3}, {1, 2, 3}), gray(), 3).mean,
            (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(of(given({0.1}, {0.5}), gray(), 3).deviation, (std::vector<double>{0.5, 0.5, 0.5}));
}

TEST(Normalization, RefusesNumbersThatDoNotFitTheChannels) {
  const auto three = given({0.1, 0.2, 0.3}, {1, 2, 3});
  expect_refusal(three, gray(), 1, {"data.normalize", "3 numbers", "1 channel"});
  expect_refusal(given({0.1}, {1}), rgb(), 3, {"1 number", "3 channels"});
  expect_refusal(given({0.1, 0.2}, {1, 2}), gray(), 3, {"2 numbers", "1 channel", "repeated to 3"});
  Samples features = gray();
  features.is_features = true;
  features.pixels.resize(8);
  expect_refusal(three, features, 1, {"3 numbers", "1 feature"});
}

TEST(Normalization, RefusesNumbersThatDoNotFitEachOther) {
  expect_refusal(given({0.1, 0.2}, {1}), rgb(), 3, {"mean has 2 numbers", "std 1"});
  expect_refusal({"given", {}}, rgb(), 3, {"mean has 0 numbers"});
  expect_refusal(given({0.1, 0.2, 0.3}, {1, 0, 1}), rgb(), 3, {"std", "> 0"});
}

}  // namespace
}  // namespace fedvg
