#include "run/comparison/run_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/comparison/made_up_runs.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class History : public MadeUpRuns {};

TEST_F(History, ARunWithItsRoundsIsComplete) {
  const auto history = read_run_history(run("a", {.accuracies = {"0.1", "", "0.3"}}));
  EXPECT_EQ(history.method, "fedavg");
  EXPECT_EQ(history.finished, 3);
  EXPECT_TRUE(history.complete);
  EXPECT_FALSE(history.stopped_early);
  EXPECT_THAT(*history.column("test_accuracy"), ElementsAre(0.1, std::nullopt, 0.3));
  EXPECT_FALSE(history.column("accuracy").has_value());
}

TEST_F(History, RunJsonSaysWhetherItIsComplete) {
  const auto folder = run("a", {.accuracies = {"0.1", "0.3"}, .rounds = 5});
  EXPECT_FALSE(read_run_history(folder).complete);
  folder_.file("a/run.json", R"({"finished": true, "rounds": 2, "stopped": "early"})");
  EXPECT_TRUE(read_run_history(folder).complete);
  EXPECT_TRUE(read_run_history(folder).stopped_early);

  const auto whole = run("b", {.accuracies = {"0.1", "0.3"}});
  folder_.file("b/run.json", R"({"finished": true, "rounds": 2, "stopped": "all rounds"})");
  EXPECT_TRUE(read_run_history(whole).complete);
  EXPECT_FALSE(read_run_history(whole).stopped_early);
  folder_.file("b/run.json", R"({"finished": false})");
  EXPECT_FALSE(read_run_history(whole).complete);
}

TEST_F(History, ADamagedRunJsonIsRefused) {
  const auto folder = run("a", {.accuracies = {"0.1", "0.3"}});
  const auto message = [&](const char* json) {
    folder_.file("a/run.json", json);
    return message_of<DataError>([&] { read_run_history(folder); });
  };
  EXPECT_THAT(message("{"), HasSubstr("run.json: damaged"));
  EXPECT_THAT(message(R"({"finished": true, "rounds": 3, "stopped": "early"})"),
              HasSubstr("it says 3 rounds, but rounds.csv has 2"));
}

// run.json is of an end that is no longer the end.
TEST_F(History, ARunThatGotMoreRoundsIsNotComplete) {
  const auto folder = run("a", {.accuracies = {"0.1", "0.3"}, .rounds = 5});
  folder_.file("a/run.json", R"({"finished": true, "rounds": 2, "stopped": "all rounds"})");
  EXPECT_FALSE(read_run_history(folder).complete);
  folder_.file("a/run.json", R"({"finished": true, "rounds": 1, "stopped": "early"})");
  EXPECT_FALSE(read_run_history(folder).complete);
}

TEST_F(History, ACellThatIsNoNumberIsNamed) {
  const auto folder = run("a", {.accuracies = {"0.1", "high"}});
  EXPECT_THAT(message_of<DataError>([&] { read_run_history(folder).column("test_accuracy"); }),
              HasSubstr("rounds.csv:3, test_accuracy: 'high' is not a number"));
}

TEST_F(History, WhatIsNoRunIsSaid) {
  folder_.file("empty/notes.txt", "");
  folder_.file("half/config.toml", "seed = 1\n[method]\nname = \"fedavg\"\n");
  EXPECT_THAT(message_of<DataError>([&] { read_run_history(folder_.path() / "absent"); }),
              HasSubstr("absent: no such folder"));
  EXPECT_THAT(message_of<DataError>([&] { read_run_history(folder_.path() / "empty"); }),
              HasSubstr("config.toml: missing"));
  EXPECT_THAT(message_of<DataError>([&] { read_run_history(folder_.path() / "half"); }),
              HasSubstr("train.rounds is missing or not an integer"));
  const auto gap = run("gap", {.accuracies = {"0.5"}});
  rounds("gap", "round,test_accuracy\n2,0.5\n");
  EXPECT_THAT(message_of<DataError>([&] { read_run_history(gap); }),
              HasSubstr("rounds.csv:2: round '2' where 1 was due"));
}

}  // namespace
}  // namespace fedvg
