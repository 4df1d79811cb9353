#include "run/run_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/toml_file.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Settings settings_of(const char* toml) {
  return flat_settings(config::read_toml(toml, "config.toml"));
}

TEST(RunSettings, AreFlatWithDottedKeys) {
  EXPECT_THAT(settings_of("seed = 1\n[train]\noptimizer = {lr = 0.1, name = \"sgd\"}\n"),
              ElementsAre(Pair("seed", "1"), Pair("train.optimizer.lr", "0.1"),
                          Pair("train.optimizer.name", "\"sgd\"")));
}

TEST(RunSettings, WhatChangesAResultByNoMoreThanRoundingDecidesNothing) {
  EXPECT_THAT(deciding_settings(settings_of(
                  "seed = 1\n[engine]\nworkers = 3\nprecision = \"float32\"\n[report]\n"
                  "layers_every = 1\n[checkpoint]\nevery = 5\nbest = \"val_loss\"\n[evaluate]\n"
                  "every = 1\nclients = true\n[train]\npatience = 0\n")),
              ElementsAre(Pair("engine.precision", "\"float32\""), Pair("evaluate.every", "1"),
                          Pair("train.patience", "0")));
}

TEST(RunSettings, OfWhatDecidesNothingSomeChangesTheLastBits) {
  const char* const rounding[] = {"engine.threads", "engine.kernels", "engine.live_taps"};
  for (const char* key : rounding) {
    EXPECT_TRUE(changes_rounding(key)) << key;
    EXPECT_TRUE(deciding_settings({{key, "1"}}).empty()) << key;
  }
  for (const char* key : {"engine.workers", "engine.window", "report.layers_every", "seed"}) {
    EXPECT_FALSE(changes_rounding(key)) << key;
  }
}

TEST(RunSettings, WithPatienceTheBestRoundsMetricDecides) {
  EXPECT_EQ(
      deciding_settings(
          settings_of("[train]\npatience = 3\n[checkpoint]\nbest = \"val_loss\"\nevery = 5\n"))
          .count("checkpoint.best"),
      1U);
}

TEST(RunSettings, PlainTextIsShownWithoutQuotes) {
  EXPECT_EQ(shown_value("\"sgd\""), "sgd");
  EXPECT_EQ(shown_value("\"a\\\"b\""), "\"a\\\"b\"");
  EXPECT_EQ(shown_value("[\"a\", \"b\"]"), "[\"a\", \"b\"]");
  EXPECT_EQ(shown_value("0.1"), "0.1");
  EXPECT_EQ(value_of({{"a", "1"}}, "b"), "unset");
}

TEST(DifferingKeys, AreThoseOfOtherValuesOrInOneOnly) {
  const Settings a = {{"a", "1"}, {"b", "2"}, {"d", "4"}}, b = {{"b", "3"}, {"c", "5"}, {"d", "4"}};
  EXPECT_EQ(differing_keys(a, b), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(differing_keys(b, a), differing_keys(a, b));
  EXPECT_TRUE(differing_keys(a, a).empty());
  EXPECT_TRUE(differing_keys({}, {}).empty());
}

}  // namespace
}  // namespace fedvg
