#include "run/sweep/sweep_run_state.h"

#include <gtest/gtest.h>

#include "run/configuration.h"
#include "run/run_end.h"
#include "run/testing.h"

namespace fedvg {
namespace {

std::string config_with(const std::vector<std::string>& sets) {
  return configuration_with(sets).text();
}

class SweepRunStateTest : public ::testing::Test {
 protected:
  bool finished(const std::string& written, const std::string& planned) {
    folder_.file("run.json", text_of(RunEnd{3, false}));
    folder_.file("config.toml", written);
    folder_.file("rounds.csv", "round\n");
    folder_.file("model.safetensors", "");
    return is_finished_run(folder_.path(), planned, 3);
  }

  TestFolder folder_;
};

TEST_F(SweepRunStateTest, FinishedAndOfTheSameSettings) {
  const std::string config = config_with({});
  EXPECT_FALSE(is_finished_run(folder_.path(), config, 3));
  EXPECT_TRUE(finished(config, config));
  EXPECT_TRUE(finished(config_with({"engine.workers=3"}), config));
  EXPECT_FALSE(is_finished_run(folder_.path(), config, 4)) << "it has 3 rounds";
  folder_.file("run.json", text_of(RunEnd{2, /*early=*/true}));
  EXPECT_TRUE(is_finished_run(folder_.path(), config, 3));
  EXPECT_TRUE(finished(config_with({"checkpoint.every=3"}), config));
  EXPECT_FALSE(finished(config_with({"partition.clients=50"}), config));
  EXPECT_FALSE(finished(config_with({"engine.window=5"}), config));
}

TEST_F(SweepRunStateTest, APartitionFileBringsItsClients) {
  const std::vector<std::string> file = {"partition.scheme=file", "partition.file=p.json"};
  auto with_clients = file;
  with_clients.emplace_back("partition.clients=6");
  EXPECT_TRUE(finished(config_with(with_clients), config_with(file)));
}

TEST_F(SweepRunStateTest, WhatDoesNotSayFinishedIsNot) {
  const std::string config = config_with({});
  folder_.file("config.toml", config);
  for (const char* text : {"", "{", "[]", "{}", "{\"finished\": false}", "{\"finished\": 1}"}) {
    folder_.file("run.json", text);
    EXPECT_FALSE(is_finished_run(folder_.path(), config, 3)) << text;
  }
}

TEST_F(SweepRunStateTest, WhatStandsInTheWayOfGoingOn) {
  const std::string config = config_with({});
  const auto obstacle = [&] { return obstacle_in(folder_.path() / "r", config, 3); };
  EXPECT_EQ(obstacle(), "");
  folder_.file("r/rounds.csv", "mine\n");
  EXPECT_EQ(obstacle(), "not a run");
  folder_.file("r/config.toml", config);
  EXPECT_EQ(obstacle(), "");
  folder_.file("r/config.toml", config_with({"train.rounds=7", "engine.workers=3"}));
  EXPECT_EQ(obstacle(), "") << "may change";
  folder_.file("r/config.toml", config_with({"train.epochs=9"}));
  EXPECT_EQ(obstacle(), "another train.epochs");
  folder_.file("r/config.toml", config_with({"train.epochs=9", "seed=4", "model.name=mlp"}));
  EXPECT_EQ(obstacle(), "another model.name and 4 more");
  folder_.file("r/config.toml", config);
  folder_.file("r/run.json", text_of(RunEnd{4, false}));
  EXPECT_EQ(obstacle(), "4 rounds behind it");
  folder_.file("r/run.json", text_of(RunEnd{3, false}));
  EXPECT_EQ(obstacle(), "");
  folder_.file("r/run.json", "{");
  EXPECT_EQ(obstacle(), "damaged run.json");
}

TEST_F(SweepRunStateTest, WhereNoFolderCanBeIsSaid) {
  const auto obstacle = [&](const std::filesystem::path& path) {
    return obstacle_in(path, config_with({}), 3);
  };
  std::filesystem::create_symlink("nowhere", folder_.path() / "r");
  EXPECT_EQ(obstacle(folder_.path() / "r"),
            "cannot be created: a symbolic link to nowhere, where there is nothing");
  const auto file = std::filesystem::canonical(folder_.file("file", ""));
  EXPECT_EQ(obstacle(file), "cannot be created: not a folder");
  EXPECT_EQ(obstacle(file / "r"), "cannot be created: " + file.string() + ": not a folder");
  EXPECT_EQ(obstacle(folder_.path() / std::string(300, 'x')),
            "cannot be created: File name too long");
}

TEST_F(SweepRunStateTest, TheLastAccuracyThatWasMeasured) {
  EXPECT_FALSE(final_accuracy(folder_.path()).has_value());
  folder_.file("rounds.csv", "round,test_accuracy\n1,0.5\n2,0.75\n3,\n");
  EXPECT_EQ(final_accuracy(folder_.path()), 0.75);
  folder_.file("rounds.csv", "round,test_accuracy\n1,\n");
  EXPECT_FALSE(final_accuracy(folder_.path()).has_value());
  folder_.file("rounds.csv", "round,test_accuracy\n1,x\n");
  EXPECT_FALSE(final_accuracy(folder_.path()).has_value());
}

TEST_F(SweepRunStateTest, RoundsAreCountedAsTheyCome) {
  RoundCounter counter(folder_.path());
  EXPECT_EQ(counter.count(), 0);
  folder_.file("rounds.csv", "round,a\n");
  EXPECT_EQ(counter.count(), 0);
  folder_.file("rounds.csv", "round,a\n1,2\n2,3\n");
  EXPECT_EQ(counter.count(), 2);
  EXPECT_EQ(counter.count(), 2);
  folder_.file("rounds.csv", "round,a\n1,2\n");
  EXPECT_EQ(counter.count(), 1) << "taken up from a checkpoint";
  folder_.file("rounds.csv", "round,a\n1,2\n2,3\n3," + std::string(100000, 'x') + "\n");
  EXPECT_EQ(counter.count(), 3);
}

}  // namespace
}  // namespace fedvg
