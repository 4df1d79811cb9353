#include "run/checkpoints/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fedvg/error.h"
#include "full_disk.h"
#include "models/sealed_file.h"
#include "run/tensor_file.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;
using Names = std::set<std::string>;

NamedArray numbers(const std::string& name, std::size_t count, unsigned char value) {
  return {name, "U8", {static_cast<std::int64_t>(count)}, std::vector(count, std::byte{value})};
}

std::vector<NamedArray> model_of(std::int64_t round) {
  return {numbers("w", 40, static_cast<unsigned char>(round))};
}

/// After a round; told apart by it.
Checkpoint checkpoint_of(std::int64_t round, std::int64_t best, std::size_t size = 8) {
  Checkpoint checkpoint{.round = round,
                        .best = best,
                        .progress = "{\"round\": " + std::to_string(round) + "}",
                        .federation = {}};
  const auto value = static_cast<unsigned char>(round);
  checkpoint.federation.arrays = {numbers("global", size, value),
                                  {"server.m", "F64", {1}, std::vector(8, std::byte{value})},
                                  {"budget.spread", "F32", {}, std::vector(4, std::byte{value})}};
  checkpoint.federation.clients = {{0, 1, 128}, {7, round, 256 + round}};
  return checkpoint;
}

class CheckpointFolderTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  Names there() const {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
  /// How often the model of the best round was asked for.
  int write(CheckpointFolder& folder, const Checkpoint& checkpoint) const {
    int asked = 0;
    folder.write(checkpoint, [&] { return ++asked, model_of(checkpoint.best); },
                 {{"round", std::to_string(checkpoint.best)}});
    return asked;
  }
  /// Rounds that a new one reads, newest first; what it says of others in damaged_.
  std::vector<std::int64_t> rounds() {
    CheckpointFolder folder(path_, 2);
    return rounds(folder);
  }
  std::vector<std::int64_t> rounds(CheckpointFolder& folder) {
    damaged_.clear();
    std::vector<std::int64_t> found;
    found = folder.whole_ones([&](const std::string& why) { damaged_.push_back(why); });
    for (const std::int64_t round : found) {
      const Checkpoint checkpoint = folder.read(round);
      EXPECT_EQ(checkpoint.round, round);
      expect_whole(checkpoint);
    }
    return found;
  }
  static void expect_whole(const Checkpoint& checkpoint) {
    const Checkpoint wanted =
        checkpoint_of(checkpoint.round, checkpoint.best,
                      checkpoint.federation.arrays.empty() ? 0 : size_of(checkpoint, "global"));
    EXPECT_EQ(checkpoint.progress, wanted.progress);
    EXPECT_THAT(checkpoint.federation.arrays, UnorderedElementsAreArray(wanted.federation.arrays));
    EXPECT_EQ(checkpoint.federation.clients, wanted.federation.clients);
  }
  static std::size_t size_of(const Checkpoint& checkpoint, const std::string& name) {
    for (const auto& array : checkpoint.federation.arrays) {
      if (array.name == name) return array.bytes.size();
    }
    return 0;
  }
  /// Another byte in the middle of a file.
  void damage(const std::string& name) const {
    std::string bytes = content_of(file(name));
    char& byte = bytes.at(bytes.size() - 3);
    byte = static_cast<char>(byte ^ 1);
    std::ofstream(file(name), std::ios::binary) << bytes;
  }

  TestFolder above_;
  std::filesystem::path path_ = above_.path() / "checkpoints";
  std::vector<std::string> damaged_;
};

TEST_F(CheckpointFolderTest, WithoutAnyNothingIsReadAndNothingMade) {
  EXPECT_THAT(rounds(), IsEmpty());
  EXPECT_THAT(damaged_, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(CheckpointFolderTest, WhatWasWrittenIsReadNewestFirst) {
  CheckpointFolder folder(path_, 2);
  write(folder, checkpoint_of(5, 3));
  write(folder, checkpoint_of(10, 0));
  EXPECT_THAT(rounds(), ElementsAre(10, 5));
  EXPECT_THAT(damaged_, IsEmpty());
  CheckpointFolder again(path_, 2);
  EXPECT_EQ(again.read(10).best, 0);
  EXPECT_EQ(again.read(5).best, 3);
}

TEST_F(CheckpointFolderTest, AFederationWithoutClientsStatesIsOneToo) {
  CheckpointFolder folder(path_, 2);
  Checkpoint checkpoint = checkpoint_of(1, 0);
  checkpoint.federation.clients.clear();
  write(folder, checkpoint);
  const Checkpoint read = CheckpointFolder(path_, 2).read(1);
  EXPECT_THAT(read.federation.clients, IsEmpty());
  EXPECT_EQ(read.federation.arrays.size(), checkpoint.federation.arrays.size());
}

TEST_F(CheckpointFolderTest, TheLatestAndTheBestThatTheyNameAreKept) {
  CheckpointFolder folder(path_, 2);
  write(folder, checkpoint_of(5, 3));
  EXPECT_EQ(there(), (Names{"round-000005.safetensors", "best-round-000003.safetensors"}));
  write(folder, checkpoint_of(10, 3));
  write(folder, checkpoint_of(15, 12));
  EXPECT_EQ(there(), (Names{"round-000010.safetensors", "round-000015.safetensors",
                            "best-round-000003.safetensors", "best-round-000012.safetensors"}));
  write(folder, checkpoint_of(20, 12));
  EXPECT_EQ(there(), (Names{"round-000015.safetensors", "round-000020.safetensors",
                            "best-round-000012.safetensors"}));
  EXPECT_THAT(rounds(), ElementsAre(20, 15));

  // One that goes on keeps as many.
  CheckpointFolder next(path_, 1);
  rounds(next);
  write(next, checkpoint_of(1234567, 1234567));
  EXPECT_EQ(there(), (Names{"round-1234567.safetensors", "best-round-1234567.safetensors"}));
  EXPECT_THAT(rounds(), ElementsAre(1234567));
}

TEST_F(CheckpointFolderTest, TheBestModelIsAskedForOnce) {
  CheckpointFolder folder(path_, 2);
  EXPECT_EQ(write(folder, checkpoint_of(1, 0)), 0);
  EXPECT_EQ(write(folder, checkpoint_of(5, 3)), 1);
  EXPECT_EQ(write(folder, checkpoint_of(10, 3)), 0);
  EXPECT_EQ(write(folder, checkpoint_of(15, 11)), 1);
  const TensorFile best = folder.read_best(11);
  EXPECT_EQ(best.tensors, model_of(11));
  EXPECT_EQ(best.metadata, (std::map<std::string, std::string>{{"round", "11"}}));
  EXPECT_EQ(folder.read_best(3).tensors, model_of(3));
  EXPECT_THROW(folder.read_best(4), DataError);

  CheckpointFolder next(path_, 2);
  rounds(next);
  EXPECT_EQ(write(next, checkpoint_of(20, 11)), 0);
  EXPECT_EQ(next.read_best(11).tensors, model_of(11));
}

TEST_F(CheckpointFolderTest, ClientsStatesAreNamedOnceByAllThatAreKept) {
  CheckpointFolder folder(path_, 2);
  EXPECT_THAT(folder.clients(), IsEmpty());
  write(folder, checkpoint_of(5, 0));
  write(folder, checkpoint_of(10, 0));
  const std::vector<ClientVersion> both = {{0, 1, 128}, {7, 5, 261}, {7, 10, 266}};
  EXPECT_EQ(folder.clients(), both);
  CheckpointFolder next(path_, 2);
  EXPECT_THAT(next.clients(), IsEmpty());
  rounds(next);
  EXPECT_EQ(next.clients(), both);
  write(next, checkpoint_of(15, 0));
  EXPECT_EQ(next.clients(), (std::vector<ClientVersion>{{0, 1, 128}, {7, 10, 266}, {7, 15, 271}}));
}

TEST_F(CheckpointFolderTest, ADamagedOneIsSkippedAndTold) {
  CheckpointFolder folder(path_, 2);
  write(folder, checkpoint_of(5, 3));
  write(folder, checkpoint_of(10, 3));
  damage("round-000010.safetensors");
  CheckpointFolder next(path_, 2);
  EXPECT_THAT(rounds(next), ElementsAre(5));
  EXPECT_THAT(damaged_, ElementsAre(AllOf(HasSubstr(file("round-000010.safetensors").string()),
                                          HasSubstr("damaged"))));
  EXPECT_EQ(next.clients(), (std::vector<ClientVersion>{{0, 1, 128}, {7, 5, 261}}));
  // The run goes on from round 5, and the damaged one is replaced.
  write(next, checkpoint_of(10, 3));
  EXPECT_THAT(rounds(), ElementsAre(10, 5));
  EXPECT_THAT(damaged_, IsEmpty());
}

TEST_F(CheckpointFolderTest, OneThatWasCutAnywhereIsSkipped) {
  CheckpointFolder folder(path_, 3);
  write(folder, checkpoint_of(5, 0));
  write(folder, checkpoint_of(10, 0));
  const std::string bytes = content_of(file("round-000010.safetensors"));
  for (std::size_t size = 0; size < bytes.size(); size += 37) {
    std::ofstream(file("round-000010.safetensors"), std::ios::binary) << bytes.substr(0, size);
    EXPECT_THAT(rounds(), ElementsAre(5)) << size;
    EXPECT_EQ(damaged_.size(), 1U);
  }
}

// What cannot be used anyhow is not kept for long: it has no place among the latest.
TEST_F(CheckpointFolderTest, ADamagedOneTakesNoPlace) {
  CheckpointFolder folder(path_, 3);
  for (const std::int64_t round : {5, 10, 15}) write(folder, checkpoint_of(round, 0));
  damage("round-000010.safetensors");
  CheckpointFolder next(path_, 3);
  EXPECT_THAT(rounds(next), ElementsAre(15, 5));
  write(next, checkpoint_of(20, 0));
  EXPECT_EQ(there(), (Names{"round-000005.safetensors", "round-000015.safetensors",
                            "round-000020.safetensors"}));
}

TEST_F(CheckpointFolderTest, WithoutItsBestModelOneIsOfNoUse) {
  CheckpointFolder folder(path_, 2);
  write(folder, checkpoint_of(5, 3));
  write(folder, checkpoint_of(10, 8));
  std::filesystem::remove(file("best-round-000008.safetensors"));
  EXPECT_THAT(rounds(), ElementsAre(5));
  EXPECT_THAT(damaged_, ElementsAre(HasSubstr(file("best-round-000008.safetensors").string())));
  damage("best-round-000003.safetensors");
  EXPECT_THAT(rounds(), IsEmpty());
  EXPECT_EQ(damaged_.size(), 2U);
}

// The run starts anew and comes to the same best round, whose file is still there.
TEST_F(CheckpointFolderTest, ADamagedBestModelIsWrittenAnew) {
  CheckpointFolder folder(path_, 2);
  write(folder, checkpoint_of(5, 3));
  damage("best-round-000003.safetensors");
  CheckpointFolder next(path_, 2);
  ASSERT_THAT(rounds(next), IsEmpty());
  EXPECT_EQ(write(next, checkpoint_of(5, 3)), 1);
  EXPECT_THAT(rounds(), ElementsAre(5));
  EXPECT_EQ(next.read_best(3).tensors, model_of(3));
}

TEST_F(CheckpointFolderTest, OneUnderAnothersNameIsRefused) {
  CheckpointFolder folder(path_, 2);
  write(folder, checkpoint_of(5, 3));
  std::filesystem::copy(file("round-000005.safetensors"), file("round-000006.safetensors"));
  std::filesystem::copy(file("best-round-000003.safetensors"), file("round-000007.safetensors"));
  EXPECT_THAT(rounds(), ElementsAre(5));
  EXPECT_THAT(damaged_, ElementsAre(HasSubstr("not a checkpoint of round 7"),
                                    HasSubstr("not a checkpoint of round 6")));
}

// They may be whole: starting anew in their stead would throw work away.
TEST_F(CheckpointFolderTest, WhatCannotBeLookedAtIsNoDamage) {
  CheckpointFolder folder(path_, 2);
  write(folder, checkpoint_of(5, 0));
  write_tensor_file(file("round-000009.safetensors"), {},
                    sealed({}, {{"version", "2"}, {"round", "9"}}));
  EXPECT_THAT(message_of<RunError>([&] { rounds(); }),
              AllOf(HasSubstr("round-000009.safetensors: a checkpoint in form 2"),
                    HasSubstr("it writes 1")));
  std::filesystem::remove(file("round-000009.safetensors"));
  EXPECT_THAT(rounds(), ElementsAre(5));
  // A name that leads in circles can be opened by nobody, root included.
  std::filesystem::create_symlink("round-000008.safetensors", file("round-000008.safetensors"));
  EXPECT_THAT(message_of<RunError>([&] { rounds(); }),
              HasSubstr("round-000008.safetensors: cannot be opened: "));
  std::filesystem::rename(path_, above_.path() / "aside");
  above_.file("checkpoints", "no folder");
  EXPECT_THAT(message_of<RunError>([&] { rounds(); }),
              HasSubstr("checkpoints: cannot be read: Not a directory"));
}

// A run that went back to an older one.
TEST_F(CheckpointFolderTest, ThoseOfLaterRoundsGo) {
  CheckpointFolder folder(path_, 3);
  write(folder, checkpoint_of(5, 3));
  write(folder, checkpoint_of(10, 8));
  CheckpointFolder next(path_, 3);
  EXPECT_THAT(rounds(next), ElementsAre(10, 5));
  write(next, checkpoint_of(7, 3));
  EXPECT_EQ(there(), (Names{"round-000005.safetensors", "round-000007.safetensors",
                            "best-round-000003.safetensors"}));
  EXPECT_EQ(next.clients(), (std::vector<ClientVersion>{{0, 1, 128}, {7, 5, 261}, {7, 7, 263}}));
}

TEST_F(CheckpointFolderTest, TheSameRoundIsWrittenOver) {
  CheckpointFolder folder(path_, 2);
  write(folder, checkpoint_of(5, 0));
  write(folder, checkpoint_of(10, 0));
  write(folder, checkpoint_of(10, 9));
  EXPECT_THAT(rounds(), ElementsAre(10, 5));
  EXPECT_EQ(folder.clients().size(), 3U);
}

TEST_F(CheckpointFolderTest, OthersFilesStay) {
  const Names foreign = {"notes.txt", "round-x.safetensors", "round-000001.txt",
                         "around-000001.safetensors", "round-000001.safetensors.old"};
  for (const auto& name : foreign) above_.file("checkpoints/" + name, "mine");
  CheckpointFolder folder(path_, 1);
  EXPECT_THAT(rounds(folder), IsEmpty());
  EXPECT_THAT(damaged_, IsEmpty());
  write(folder, checkpoint_of(5, 0));
  write(folder, checkpoint_of(10, 0));
  for (const auto& name : foreign) EXPECT_EQ(content_of(file(name)), "mine") << name;
  EXPECT_EQ(there().size(), foreign.size() + 1);
}

// At every size of disk: the one before is whole, and nothing half is left.
TEST_F(CheckpointFolderTest, OnAFullDiskTheEarlierOnesStay) {
  CheckpointFolder folder(path_, 1);
  write(folder, checkpoint_of(5, 3));
  const auto clients = folder.clients();
  const Names before = there();
  std::size_t refused = 0;
  for (rlim_t bytes = 0; bytes < 5000; bytes += 100) {
    const DiskOf disk(bytes);
    const std::string message =
        message_of<RunError>([&] { write(folder, checkpoint_of(10, 8, 1200)); });
    if (message == "nothing thrown") break;
    ++refused;
    EXPECT_THAT(message, AllOf(HasSubstr(path_.string() + "/"),
                               HasSubstr(".safetensors: cannot be written: File too large")));
    EXPECT_EQ(folder.clients(), clients);
    Names now = there();
    now.erase("best-round-000008.safetensors");  // whole or absent
    EXPECT_EQ(now, before) << bytes;
    EXPECT_THAT(rounds(), ElementsAre(5)) << bytes;
    EXPECT_THAT(damaged_, IsEmpty());
  }
  EXPECT_GT(refused, 12U);
  EXPECT_THAT(rounds(), ElementsAre(10));
}

TEST_F(CheckpointFolderTest, AFolderThatCannotBeMadeIsNamed) {
  above_.file("checkpoints", "a file");
  CheckpointFolder folder(path_, 1);
  EXPECT_THAT(message_of<RunError>([&] { write(folder, checkpoint_of(1, 0)); }),
              HasSubstr(path_.string()));
  CheckpointFolder below(path_ / "below", 1);
  EXPECT_THAT(message_of<RunError>([&] { write(below, checkpoint_of(1, 0)); }),
              HasSubstr("below: cannot be created: "));
}

}  // namespace
}  // namespace fedvg
