#include "run/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::HasSubstr;

RoundResult a_round(std::int64_t number) {
  RoundResult result;
  RoundRecord& record = result.record;
  record.round = number;
  record.participants = 2;
  record.rejected = 1;
  record.weight_min = record.weight_max = 1.0;
  record.bytes_down = 80;
  record.bytes_up = 80;
  record.seconds_train = 0.5;
  record.seconds_score = 0.25;
  record.seconds_combine = 0.125;
  record.scored = 48;
  ClientRecord good;
  good.client = 4;
  good.samples = 33;
  good.steps = 2;
  good.weight = 1.0;
  good.score = 0.1;
  good.norm = 10.0;
  good.loss_first = 2.5;
  good.loss_last = 1.5;
  good.status = "ok";
  good.seconds_train = 0.75;
  good.seconds_score = 0.5;
  good.tensor_norms = {8, 12};
  good.tensor_weights = {1, 1};
  ClientRecord bad;
  bad.client = 0;
  bad.samples = 1;
  bad.loss_first = bad.loss_last = std::nan("");
  bad.status = "not-finite";
  record.clients = {good, bad};
  result.test = {0.5, 1.25, 0.625, 0.375, std::nullopt, {{3, 1}, {0, 0}}};
  result.seconds = 1.5;
  result.seconds_evaluate = 0.0625;
  return result;
}

const std::vector<TensorInfo> kTensors = {{"fc.weight", "fc", {2, 2}}, {"fc.bias", "fc", {2}}};
const RunFolder::Documents kDocuments = {"seed = 1\n", "{}\n", "[]\n", {"cat", "dog, wet"}};

class RunFolderTest : public ::testing::Test {
 protected:
  std::string content(const std::string& name) { return content_of(path_ / name); }

  TestFolder above_;
  std::filesystem::path path_ = above_.path() / "runs" / "a-fedavg-s1";
};

TEST_F(RunFolderTest, TablesHaveTheDocumentedColumns) {
  RunFolder folder(path_, kDocuments);
  folder.add(a_round(1), kTensors);
  EXPECT_EQ(content("rounds.csv"),
            "round,test_accuracy,test_loss,val_accuracy,val_loss,participants,rejected,weight_min,"
            "weight_max,weight_entropy,bytes_down,bytes_up,seconds,seconds_train,seconds_score,"
            "seconds_combine,seconds_evaluate,test_balanced_accuracy,val_balanced_accuracy,"
            "test_macro_f1,val_macro_f1,test_macro_auroc,val_macro_auroc,scored,clients_evaluated,"
            "clients_accuracy_mean,clients_accuracy_weighted,clients_accuracy_worst,"
            "clients_accuracy_std\n"
            "1,0.5,1.25,,,2,1,1,1,,80,80,1.5,0.5,0.25,0.125,0.0625,0.625,,0.375,,,,48,,,,,\n");
  EXPECT_EQ(content("classes.csv"),
            "round,class,samples,recall\n1,cat,4,0.75\n1,\"dog, wet\",0,\n");
  EXPECT_EQ(content("clients.csv"),
            "round,client,samples,steps,weight,score,norm,loss_first,loss_last,status,"
            "seconds_train,seconds_score,corrupted,accuracy_before,accuracy_after\n"
            "1,4,33,2,1,0.1,10,2.5,1.5,ok,0.75,0.5,,,\n"
            "1,0,1,0,0,,,,,not-finite,0,0,,,\n");
  EXPECT_EQ(content("layers.csv"),
            "round,client,tensor,block,norm,weight\n"
            "1,4,fc.weight,fc,8,1\n1,4,fc.bias,fc,12,1\n"
            "1,0,fc.weight,fc,,\n1,0,fc.bias,fc,,\n");
}

TEST_F(RunFolderTest, ARoundWithoutLayersHasNoLinesThere) {
  RunFolder folder(path_, kDocuments);
  folder.add(a_round(1), {});
  EXPECT_EQ(content("layers.csv"), "round,client,tensor,block,norm,weight\n");
}

TEST_F(RunFolderTest, ARoundThatWasNotEvaluatedHasNoLineOfAClass) {
  RunFolder folder(path_, kDocuments);
  RoundResult result = a_round(1);
  result.test.reset();
  folder.add(result, {});
  EXPECT_EQ(content("classes.csv"), "round,class,samples,recall\n");
  EXPECT_THAT(content("rounds.csv"), HasSubstr("\n1,,,,,2,1,1,1,,80,80,1.5,0.5,0.25,0.125,0.0625"
                                               ",,,,,,,48,,,,,\n"));
}

TEST_F(RunFolderTest, TheConfusionNamesClassesOnBothSides) {
  RunFolder folder(path_, kDocuments);
  folder.write_confusion({{3, 1}, {0, 2}});
  EXPECT_EQ(content("confusion.csv"), "true_class,cat,\"dog, wet\"\ncat,3,1\n\"dog, wet\",0,2\n");
}

TEST_F(RunFolderTest, CorruptedClientsAreMarkedWhereThereAreAny) {
  RunFolder folder(path_, kDocuments);
  RoundResult result = a_round(1);
  result.record.clients[0].corrupted = false;
  result.record.clients[1].corrupted = true;
  folder.add(result, {});
  EXPECT_THAT(content("clients.csv"), HasSubstr(",0.75,0.5,0,,\n"));
  EXPECT_THAT(content("clients.csv"), HasSubstr(",0,0,1,,\n"));
}

TEST_F(RunFolderTest, WhatClientsWereMeasuredOnComesLast) {
  RunFolder folder(path_, kDocuments);
  RoundResult result = a_round(1);
  result.clients = ClientFigures{
      .clients = 3, .mean = 0.5, .weighted = 0.25, .worst = 0.125, .deviation = 0.375};
  result.record.clients[0].accuracy_before = 0.75;
  result.record.clients[0].accuracy_after = 1;
  result.record.clients[1].accuracy_before = 0;
  folder.add(result, {});
  EXPECT_THAT(content("rounds.csv"), HasSubstr(",48,3,0.5,0.25,0.125,0.375\n"));
  EXPECT_THAT(content("clients.csv"), HasSubstr(",ok,0.75,0.5,,0.75,1\n"));
  EXPECT_THAT(content("clients.csv"), HasSubstr(",not-finite,0,0,,0,\n"));
}

TEST_F(RunFolderTest, AClientThatNeverAnsweredHasALine) {
  RunFolder folder(path_, kDocuments);
  RoundResult result = a_round(1);
  ClientRecord& client = result.record.clients[1] = {.client = 9};
  client.status = "dropped";
  client.loss_first = client.loss_last = std::nan("");
  folder.add(result, {});
  EXPECT_THAT(content("clients.csv"), HasSubstr("\n1,9,0,0,0,,,,,dropped,0,0,,,\n"));
}

TEST_F(RunFolderTest, DocumentsAndModelAreThere) {
  RunFolder folder(path_, kDocuments);
  EXPECT_EQ(content("config.toml"), "seed = 1\n");
  EXPECT_EQ(content("environment.json"), "{}\n");
  EXPECT_EQ(content("partition.json"), "[]\n");
  const NamedArray array{"b", "U8", {1}, {std::byte{7}}};
  folder.write_model({array}, {{"round", "1"}});
  folder.sync();
  const auto model = read_safetensors(folder.model_path().string());
  EXPECT_THAT(model.tensors, ::testing::ElementsAre(array));
  EXPECT_EQ(model.metadata.at("round"), "1");
}

TEST_F(RunFolderTest, AFolderThatIsThereIsRefusedAndUntouched) {
  above_.file("runs/a-fedavg-s1/rounds.csv", "mine\n");
  const std::string checked = message_of<RunError>([&] { RunFolder::check(path_); });
  EXPECT_THAT(checked, HasSubstr(path_.string() + " exists already"));
  EXPECT_THAT(checked, HasSubstr("--out"));
  const std::string foreign = message_of<RunError>([&] { RunFolder(path_, kDocuments); });
  EXPECT_THAT(foreign, HasSubstr(path_.string() + ": not the folder of a run"));
  EXPECT_FALSE(std::filesystem::exists(path_ / "config.toml"));

  above_.file("runs/a-fedavg-s1/config.toml", "seed = 9\n");
  const std::string another = message_of<RunError>([&] { RunFolder(path_, kDocuments); });
  EXPECT_THAT(another, HasSubstr(path_.string() + " exists already"));
  EXPECT_THAT(another, HasSubstr("--resume"));
  EXPECT_EQ(content("config.toml"), "seed = 9\n");
  EXPECT_EQ(content("rounds.csv"), "mine\n");
  EXPECT_FALSE(std::filesystem::exists(path_ / ".lock"));
}

TEST_F(RunFolderTest, CheckingCreatesNothingAndSeesAFileInTheWay) {
  RunFolder::check(path_);
  EXPECT_FALSE(std::filesystem::exists(above_.path() / "runs"));
  above_.file("file", "");
  EXPECT_THAT(message_of<RunError>([&] { RunFolder::check(above_.path() / "file" / "run"); }),
              HasSubstr("file: not a folder"));
}

// 600 bytes hold the headers and the first round of every table, not more.
TEST_F(RunFolderTest, AFullDiskLeavesWholeRounds) {
  RunFolder folder(path_, kDocuments);
  folder.add(a_round(1), kTensors);
  const std::string rounds = content("rounds.csv"), clients = content("clients.csv"),
                    layers = content("layers.csv"), classes = content("classes.csv");
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  // Only rounds.csv, the longest and the last, is to fail: what came before is taken back.
  const rlimit limit = {rounds.size() + 20, before.rlim_max};
  ASSERT_GT(rounds.size(), clients.size() + clients_lines(a_round(2).record).size() - 30);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const auto message = message_of<RunError>([&] { folder.add(a_round(2), kTensors); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_THAT(message, HasSubstr(".csv: cannot be written: "));
  EXPECT_EQ(content("rounds.csv"), rounds);
  EXPECT_EQ(content("clients.csv"), clients);
  EXPECT_EQ(content("layers.csv"), layers);
  EXPECT_EQ(content("classes.csv"), classes);
}

TEST_F(RunFolderTest, AFolderThatCannotBeFilledIsRemovedAgain) {
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {4, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const auto message = message_of<RunError>([&] { RunFolder(path_, kDocuments); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_THAT(message, HasSubstr("config.toml: cannot be written: "));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// --- going on

/// A folder with two rounds, and the tables after the first.
class RunGoesOn : public RunFolderTest {
 protected:
  RunGoesOn() {
    RunFolder folder(path_, kDocuments);
    folder.log().info("first start");
    folder.add(a_round(1), kTensors);
    begin_ = folder.tables();
    for (const char* table : kTables) after_one_.push_back(content(table));
    folder.add(a_round(2), kTensors);
    for (const char* table : kTables) after_two_.push_back(content(table));
  }
  RunFolder go_on(const std::optional<TableContents>& tables) {
    return RunFolder(path_, std::make_unique<FolderLock>(path_), kDocuments, tables);
  }
  std::vector<std::string> tables() {
    std::vector<std::string> all;
    for (const char* table : kTables) all.push_back(content(table));
    return all;
  }

  static constexpr const char* kTables[] = {"rounds.csv", "clients.csv", "layers.csv",
                                            "classes.csv"};
  TableContents begin_;
  std::vector<std::string> after_one_, after_two_;
};

TEST_F(RunGoesOn, ContentsAreThoseOfTheFiles) {
  EXPECT_EQ(begin_.rounds.size, std::ssize(after_one_[0]));
  EXPECT_EQ(begin_.rounds, begin_of(path_ / "rounds.csv", begin_.rounds.size));
  EXPECT_EQ(begin_.clients.size, std::ssize(after_one_[1]));
  EXPECT_EQ(begin_.clients, begin_of(path_ / "clients.csv", begin_.clients.size));
  EXPECT_EQ(begin_.layers.size, std::ssize(after_one_[2]));
  EXPECT_EQ(begin_.layers, begin_of(path_ / "layers.csv", begin_.layers.size));
  EXPECT_EQ(begin_.classes.size, std::ssize(after_one_[3]));
  EXPECT_EQ(begin_.classes, begin_of(path_ / "classes.csv", begin_.classes.size));
}

TEST_F(RunGoesOn, BehindTheLinesThatCount) {
  ASSERT_NE(after_one_, after_two_);
  RunFolder folder = go_on(begin_);
  EXPECT_EQ(tables(), after_one_);
  folder.add(a_round(2), kTensors);
  EXPECT_EQ(tables(), after_two_);
}

TEST_F(RunGoesOn, WithoutACheckpointFromTheStart) {
  RunFolder folder = go_on(std::nullopt);
  EXPECT_EQ(content("rounds.csv"), rounds_header());
  EXPECT_EQ(content("clients.csv"), clients_header());
  folder.add(a_round(1), kTensors);
  EXPECT_EQ(tables(), after_one_);
}

TEST_F(RunGoesOn, DocumentsAreWrittenAnewAndTheLogGrows) {
  above_.file("runs/a-fedavg-s1/config.toml", "seed = 9\n");
  RunFolder folder = go_on(begin_);
  folder.log().info("second start");
  EXPECT_EQ(content("config.toml"), "seed = 1\n");
  EXPECT_THAT(content("log.txt"), ::testing::MatchesRegex(".* first start\n.* second start\n"));
}

TEST_F(RunGoesOn, WhatAKilledOneLeftHalfIsRemoved) {
  for (const char* left : {"model.safetensors.part", "config.toml.1.part",
                           "checkpoints/round-000005.safetensors.part"}) {
    above_.file(std::string("runs/a-fedavg-s1/") + left, "half");
  }
  above_.file("runs/a-fedavg-s1/checkpoints/round-000004.safetensors", "whole");
  const RunFolder folder = go_on(begin_);
  EXPECT_FALSE(std::filesystem::exists(path_ / "model.safetensors.part"));
  EXPECT_FALSE(std::filesystem::exists(path_ / "config.toml.1.part"));
  EXPECT_FALSE(std::filesystem::exists(path_ / "checkpoints/round-000005.safetensors.part"));
  EXPECT_EQ(content("checkpoints/round-000004.safetensors"), "whole");
}

TEST_F(RunGoesOn, OnlyOneAtATime) {
  const RunFolder folder = go_on(begin_);
  EXPECT_TRUE(FolderLock::taken(path_));
  EXPECT_THAT(message_of<RunError>([&] { go_on(begin_); }),
              HasSubstr(path_.string() + ": another process"));
  EXPECT_THAT(message_of<RunError>([&] { RunFolder(path_, kDocuments); }),
              HasSubstr(path_.string() + ": another process"));
  EXPECT_EQ(tables(), after_one_);
}

TEST_F(RunGoesOn, TablesThatLackLinesAreNamed) {
  EXPECT_NO_THROW(RunFolder::check_tables(path_, begin_));
  for (const char* table : kTables) {
    const std::string whole = content(table);
    const auto name = std::string("runs/a-fedavg-s1/") + table;
    above_.file(name, after_one_[0].substr(0, 20));
    const std::string shorter =
        message_of<DataError>([&] { RunFolder::check_tables(path_, begin_); });
    EXPECT_THAT(shorter, HasSubstr((path_ / table).string() + ": shorter"));
    std::filesystem::remove(path_ / table);
    EXPECT_THAT(message_of<DataError>([&] { RunFolder::check_tables(path_, begin_); }),
                HasSubstr((path_ / table).string() + ": missing"));
    EXPECT_THROW(go_on(begin_), RunError);
    EXPECT_FALSE(FolderLock::taken(path_));
    above_.file(name, whole);
  }
  EXPECT_NO_THROW(RunFolder::check_tables(path_, begin_));
}

TEST_F(RunGoesOn, TablesThatAreDamagedAreNamed) {
  for (std::size_t i = 0; i < std::size(kTables); ++i) {
    const char* table = kTables[i];
    const std::string whole = content(table);
    const auto name = std::string("runs/a-fedavg-s1/") + table;
    const std::size_t counted = after_one_[i].size();
    for (const std::size_t at : {std::size_t{0}, counted / 2, counted - 1}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 4);
      above_.file(name, damaged);
      EXPECT_THAT(message_of<DataError>([&] { RunFolder::check_tables(path_, begin_); }),
                  HasSubstr((path_ / table).string() + ": lines are not as they were"))
          << at;
    }
    std::string behind = whole;  // is cut off
    behind.back() = '?';
    above_.file(name, behind);
    EXPECT_NO_THROW(RunFolder::check_tables(path_, begin_));
    above_.file(name, whole);
  }
}

TEST_F(RunFolderTest, ARunIsKnownByItsConfiguration) {
  EXPECT_FALSE(RunFolder::holds_run(path_));
  std::filesystem::create_directories(path_);
  EXPECT_FALSE(RunFolder::holds_run(path_));
  above_.file("runs/a-fedavg-s1/.lock", "17\n");
  above_.file("runs/a-fedavg-s1/config.toml.part", "se");
  EXPECT_FALSE(RunFolder::holds_run(path_)) << "of a start that was killed";
  above_.file("runs/a-fedavg-s1/notes.txt", "mine");
  const std::string foreign = message_of<RunError>([&] { RunFolder::holds_run(path_); });
  EXPECT_THAT(foreign, HasSubstr(path_.string() + ": not the folder of a run"));
  EXPECT_THAT(foreign, HasSubstr("--out"));
  above_.file("runs/a-fedavg-s1/config.toml", "seed = 1\n");
  EXPECT_TRUE(RunFolder::holds_run(path_));
  EXPECT_THAT(message_of<RunError>([&] { RunFolder::holds_run(path_ / "notes.txt"); }),
              HasSubstr("notes.txt: not the folder of a run"));
}

// --resume of a run that was killed before it began.
TEST_F(RunFolderTest, AStartThatWasKilledDoesNotStandInTheWay) {
  above_.file("runs/a-fedavg-s1/.lock", "17\n");
  above_.file("runs/a-fedavg-s1/config.toml.part", "se");
  RunFolder folder(path_, kDocuments);
  EXPECT_EQ(content("config.toml"), "seed = 1\n");
  EXPECT_FALSE(std::filesystem::exists(path_ / "config.toml.part"));
  EXPECT_TRUE(FolderLock::taken(path_));
}

TEST_F(RunFolderTest, TheBestModelLiesBesideTheLast) {
  RunFolder folder(path_, kDocuments);
  const NamedArray array{"b", "U8", {1}, {std::byte{7}}};
  folder.write_best_model({array}, {{"round", "4"}});
  const auto best = read_safetensors((path_ / "best.safetensors").string());
  EXPECT_THAT(best.tensors, ::testing::ElementsAre(array));
  EXPECT_EQ(best.metadata.at("round"), "4");
  EXPECT_FALSE(std::filesystem::exists(folder.model_path()));
}

TEST(RunFolderName, TellsConfigurationMethodAndSeed) {
  EXPECT_EQ(default_run_folder("fmnist", "fedprox+fedvg", 3), "runs/fmnist-fedprox+fedvg-s3");
}

}  // namespace
}  // namespace fedvg
