#include "run/sweep/sweep_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

std::string name_of(const SweepSettings& run) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : run) keys.push_back(key);
  return sweep_run_names({run}, keys).at(0);
}

TEST(SweepNames, KeyAndValueInTheOrderOfTheKeys) {
  const SweepSettings run = {
      {"partition.alpha", 0.1}, {"method.name", "fedavg+fedvg"}, {"seed", 3}};
  EXPECT_THAT(sweep_run_names({run}, {"method.name", "partition.alpha", "seed"}),
              ElementsAre("fedavg+fedvg-alpha0.1-s3"));
  EXPECT_THAT(sweep_run_names({run}, {"partition.alpha"}), ElementsAre("alpha0.1"));
}

TEST(SweepNames, EachKindOfValue) {
  EXPECT_EQ(name_of({{"validation.imbalance", 1.0}}), "imbalance1");
  EXPECT_EQ(name_of({{"train.optimizer.lr", 1e-5}}), "lr1e-05");
  EXPECT_EQ(name_of({{"method.server.beta1", 0.9}}), "beta1_0.9") << "not beta10.9";
  EXPECT_EQ(name_of({{"train.shuffle", true}}), "shuffle_true");
  EXPECT_EQ(name_of({{"method.weighting.norm", "l2"}}), "norm_l2");
  EXPECT_EQ(name_of({{"validation.path", ""}}), "path_empty");
  EXPECT_EQ(name_of({{"method.weighting", Table{{"name", "fedvg"}, {"norm", "l2"}}}}).substr(0, 24),
            "weighting_fedvg_norm_l2");
  EXPECT_EQ(name_of({{"model.hidden", Array{8, 16}}}), "hidden_8_16");
}

TEST(SweepNames, OddAndLongValuesAreShortenedAndStayDifferent) {
  const auto path = [](const char* text) { return name_of({{"data.path", text}}); };
  EXPECT_THAT(path("data/cifar 100/train.bin"), MatchesRegex("path_train[.]bin[.][0-9a-f]{6}"));
  EXPECT_NE(path("a/train.bin"), path("b/train.bin"));
  EXPECT_EQ(path("a/train.bin"), path("a/train.bin"));
  EXPECT_THAT(path("../../etc"), MatchesRegex("path_etc[.][0-9a-f]{6}"));
  EXPECT_THAT(name_of({{"model.name", ".."}}), MatchesRegex("_[.][.][0-9a-f]{6}"));
  EXPECT_THAT(name_of({{"model.name", "-x"}}), MatchesRegex("_x[.][0-9a-f]{6}"));
  EXPECT_THAT(name_of({{"model.name", "\xc3\xa9"}}), MatchesRegex("__[.][0-9a-f]{6}"));
  const std::string longest = name_of({{"model.name", std::string(5000, 'x')}});
  EXPECT_LE(longest.size(), 24U);
  SweepSettings many;
  for (char c = 'a'; c <= 'z'; ++c) many.emplace_back("section." + std::string(8, c), 12345);
  const std::string name = name_of(many);
  EXPECT_LE(name.size(), 120U);
  many.back().second = 12346;
  EXPECT_NE(name_of(many), name) << "what was cut off still counts";
}

TEST(SweepNames, KeysThatEndAlikeAreToldApart) {
  const SweepSettings run = {{"train.optimizer.lr", 0.1}, {"method.server.lr", 1}};
  EXPECT_EQ(name_of(run), "optimizer.lr0.1-server.lr1");
}

TEST(SweepNames, AllDifferentAlsoWithoutCapitals) {
  const std::vector<SweepSettings> runs = {
      {{"a", "x"}}, {{"a", "X"}}, {{"a", Array{"x"}}}, {{"a", "y"}}};
  const auto names = sweep_run_names(runs, {"a"});
  EXPECT_THAT(names[0], MatchesRegex("a_x-[0-9a-f]{6}"));
  EXPECT_THAT(names[1], MatchesRegex("a_X-[0-9a-f]{6}"));
  EXPECT_THAT(names[2], MatchesRegex("a_x-[0-9a-f]{6}"));
  EXPECT_EQ(names[3], "a_y");
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), 4U);
}

TEST(SweepNames, NamesThatTheSweepNeedsItselfAreLeftToIt) {
  EXPECT_THAT(name_of({{"model.name", "logs"}}), MatchesRegex("logs-[0-9a-f]{6}"));
}

// Otherwise a longer list would begin all runs anew.
TEST(SweepNames, MoreValuesChangeNoName) {
  const auto run = [](double alpha, int seed) {
    return SweepSettings{{"partition.alpha", alpha}, {"seed", seed}};
  };
  const std::vector<std::string> keys = {"partition.alpha", "seed"};
  EXPECT_EQ(sweep_run_names({run(0.1, 1)}, keys)[0],
            sweep_run_names({run(0.1, 1), run(1, 1), run(1, 2)}, keys)[0]);
}

}  // namespace
}  // namespace fedvg
