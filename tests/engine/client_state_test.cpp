#include "engine/client_state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "fedvg/error.h"
#include "full_disk.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

/// An empty folder that is gone afterwards.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "fedvg-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::recursive_directory_iterator(path), fs::recursive_directory_iterator{}));
  }
};

/// 16 numbers of 8 bytes.
ClientState state(double value) {
  ClientState result;
  result.correction["h"] = at::full({16}, value, at::kDouble);
  return result;
}
constexpr std::int64_t kBytes = 128;

double value(ClientStateStore& store, std::int64_t client) {
  const ClientState found = store.get(client);
  return found.empty() ? 0 : found.correction.at("h")[0].item<double>();
}

TEST(ClientState, CountsOnceItsRoundIsPublished) {
  ClientStateStore store(1 << 20, "");
  store.put(3, 1, state(1));
  EXPECT_TRUE(store.get(3).empty());
  store.publish(1, {3});
  EXPECT_EQ(value(store, 3), 1);
  store.put(3, 2, state(2));
  EXPECT_EQ(value(store, 3), 1);
  store.publish(2, {3});
  EXPECT_EQ(value(store, 3), 2);
  EXPECT_EQ(store.bytes_in_memory(), kBytes);  // the first one is gone
}

TEST(ClientState, OfAVoidRoundIsDropped) {
  ClientStateStore store(1 << 20, "");
  store.put(3, 1, state(1));
  store.publish(1, {3});
  store.put(3, 2, state(2));
  store.put(4, 2, state(2));
  store.drop(2);
  EXPECT_EQ(value(store, 3), 1);
  EXPECT_TRUE(store.get(4).empty());
  EXPECT_EQ(store.bytes_in_memory(), kBytes);
}

TEST(ClientState, OfARejectedClientIsDropped) {
  ClientStateStore store(1 << 20, "");
  store.put(3, 1, state(1));
  store.put(4, 1, state(1));
  store.publish(1, {3, 4});
  store.put(3, 2, state(2));
  store.put(4, 2, state(2));
  store.publish(2, {4});
  EXPECT_EQ(value(store, 3), 1);
  EXPECT_EQ(value(store, 4), 2);
}

// A client that never took part has no entry and no file, however many there are.
TEST(ClientState, CostsNothingBeforeTheFirstRound) {
  const Folder folder;
  ClientStateStore store(0, folder.path / "states");
  for (std::int64_t client = 0; client < 10'000; ++client) EXPECT_TRUE(store.get(client).empty());
  EXPECT_EQ(store.bytes_in_memory(), 0);
  EXPECT_EQ(store.bytes_on_disk(), 0);
  EXPECT_EQ(folder.files(), 0U);
}

TEST(ClientState, WaitsOnDiskBeyondItsMemory) {
  const Folder folder;
  {
    ClientStateStore store(0, folder.path / "states");
    store.put(3, 1, state(1));
    store.put(4, 1, state(2));
    store.publish(1, {3, 4});
    EXPECT_EQ(store.bytes_in_memory(), 0);
    EXPECT_EQ(store.bytes_on_disk(), 2 * kBytes);
    EXPECT_EQ(folder.files(), 3U);  // the folder and two files
    EXPECT_EQ(value(store, 3), 1);
    EXPECT_EQ(value(store, 4), 2);
    store.put(3, 2, state(5));
    store.publish(2, {3});
    EXPECT_EQ(folder.files(), 3U);  // the one before is gone
    EXPECT_EQ(value(store, 3), 5);
    store.put(3, 3, state(6));
    store.drop(3);
    EXPECT_EQ(folder.files(), 3U);
    EXPECT_EQ(value(store, 3), 5);
  }
  EXPECT_EQ(folder.files(), 0U);
}

// Room for two: of three the one that was used least recently waits on disk.
TEST(ClientState, KeepsWhatWasUsedLast) {
  ClientStateStore store(2 * kBytes, "");
  for (const std::int64_t client : {1, 2}) store.put(client, 1, state(1));
  store.publish(1, {1, 2});
  store.get(1);
  store.put(3, 2, state(3));
  store.publish(2, {3});
  EXPECT_EQ(store.bytes_in_memory(), 2 * kBytes);
  EXPECT_EQ(store.bytes_on_disk(), kBytes);
  store.put(3, 3, state(4));  // 2 waits on disk; with 3's new state 1 does, too
  store.publish(3, {3});
  EXPECT_EQ(store.bytes_on_disk(), 2 * kBytes);
  for (const std::int64_t client : {1, 2}) EXPECT_EQ(value(store, client), 1);
  EXPECT_EQ(value(store, 3), 4);
}

// U13: shape, type and bytes survive memory and disk.
TEST(ClientState, KeepsShapeTypeAndBytes) {
  ClientState whole;
  whole.correction["c"] = at::tensor({1.0, -0.0, std::numeric_limits<double>::denorm_min()});
  whole.correction["w"] = at::tensor({1.5F, 3e38F}, at::kFloat);
  whole.correction["empty"] = at::zeros({1, 0, 3}, at::kFloat);
  whole.correction["nothing"] = at::zeros({0}, at::kDouble);
  whole.optimizer["steps"] = at::full({}, std::int64_t{1} << 62, at::kLong);
  whole.optimizer["one"] = at::full({1}, 7, at::kLong);
  for (int i = 0; i < 12; ++i) whole.buffers.push_back(at::full({i % 3}, i, at::kFloat));
  whole.buffers.push_back(at::full({}, 21, at::kLong));

  for (const std::int64_t memory : {0, 1 << 20}) {
    ClientStateStore store(memory, "");
    store.put(0, 1, whole);
    store.publish(1, {0});
    const ClientState found = store.get(0);
    const auto same = [](const at::Tensor& a, const at::Tensor& b) {
      return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
             (a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
    };
    ASSERT_EQ(found.correction.size(), whole.correction.size());
    ASSERT_EQ(found.optimizer.size(), whole.optimizer.size());
    ASSERT_EQ(found.buffers.size(), whole.buffers.size());
    for (const auto& [name, tensor] : whole.correction) {
      EXPECT_TRUE(same(found.correction.at(name), tensor)) << name << " " << memory;
    }
    for (const auto& [name, tensor] : whole.optimizer) {
      EXPECT_TRUE(same(found.optimizer.at(name), tensor)) << name << " " << memory;
    }
    for (std::size_t i = 0; i < whole.buffers.size(); ++i) {
      EXPECT_TRUE(same(found.buffers[i], whole.buffers[i])) << i << " " << memory;
    }
  }
}

TEST(ClientState, LeavesForeignFilesOfItsFolderAlone) {
  const Folder folder;
  std::ofstream(folder.path / "notes.txt") << "mine";
  {
    ClientStateStore store(0, folder.path);
    store.put(3, 1, state(1));
    EXPECT_EQ(folder.files(), 2U);
  }
  EXPECT_EQ(folder.files(), 1U);
  EXPECT_TRUE(fs::exists(folder.path / "notes.txt"));
}

TEST(ClientState, SaysWhatTheDiskDoesNotTake) {
  const Folder folder;
  std::ofstream(folder.path / "file") << "no folder";
  ClientStateStore store(0, folder.path / "file" / "states");
  try {
    store.put(3, 1, state(1));
    FAIL();
  } catch (const RunError& problem) {
    EXPECT_NE(std::string(problem.what()).find("file"), std::string::npos) << problem.what();
  }
}

// --- what a checkpoint names

using Versions = std::vector<ClientVersion>;

/// Of tests that write files: a folder for states, and what is in it.
class SavedClientState : public ::testing::Test {
 protected:
  fs::path file(std::int64_t client, std::int64_t round) const {
    return states_ / ("client-" + std::to_string(client) + "-round-" + std::to_string(round) +
                      ".safetensors");
  }
  bool there(std::int64_t client, std::int64_t round) const {
    return fs::exists(file(client, round));
  }
  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  /// A published state of each client, the value being the client.
  static void run_round(ClientStateStore& store, std::int64_t round,
                        const std::set<std::int64_t>& clients, double value = 0) {
    for (const std::int64_t client : clients) {
      store.put(client, round, state(value == 0 ? static_cast<double>(client) : value));
    }
    store.publish(round, clients);
  }
  /// What `call` throws, a DataError or a RunError.
  template <class Error, class Call>
  static std::string message(Call call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing thrown";
  }
  static void expect_says(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
  }

  const Folder folder_;
  const fs::path states_ = folder_.path / "states";
};

TEST_F(SavedClientState, IsNamedByClientWithTheRoundItIsOf) {
  ClientStateStore store(1 << 20, states_);
  EXPECT_EQ(store.save(), Versions{});
  EXPECT_FALSE(fs::exists(states_));
  run_round(store, 1, {4, 3});
  run_round(store, 2, {4});
  store.put(9, 3, state(9));  // of a round that is not finished
  EXPECT_EQ(store.save(), (Versions{{3, 1, kBytes}, {4, 2, kBytes}}));
  EXPECT_TRUE(there(3, 1) && there(4, 2));
  EXPECT_EQ(folder_.files(), 3U);
  EXPECT_EQ(store.bytes_in_memory(), 3 * kBytes);  // it stays there
  EXPECT_EQ(store.bytes_on_disk(), 0);
}

// A file that was swapped in between stays: nobody writes it a second time.
TEST_F(SavedClientState, IsWrittenOnce) {
  ClientStateStore store(1 << 20, states_);
  run_round(store, 1, {3, 4});
  store.save();
  put(file(3, 1), content(file(4, 1)));
  const std::string swapped = content(file(3, 1));
  run_round(store, 2, {4});
  EXPECT_EQ(store.save(), (Versions{{3, 1, kBytes}, {4, 2, kBytes}}));
  EXPECT_EQ(content(file(3, 1)), swapped);
}

// Whether memory ran out before save() or after it, the one file serves both.
TEST_F(SavedClientState, SharesItsFileWithOneThatWaitsOnDisk) {
  ClientStateStore store(kBytes, states_);
  run_round(store, 1, {3, 4});  // 3 waits on disk
  EXPECT_TRUE(there(3, 1));
  EXPECT_FALSE(there(4, 1));
  const std::string three = content(file(3, 1));
  put(file(3, 1), "not written again");
  EXPECT_EQ(store.save(), (Versions{{3, 1, kBytes}, {4, 1, kBytes}}));
  EXPECT_EQ(content(file(3, 1)), "not written again");
  EXPECT_EQ(store.bytes_on_disk(), kBytes);

  put(file(4, 1), three);
  EXPECT_EQ(value(store, 4), 4);  // from memory
  run_round(store, 2, {5});       // which 4 leaves
  EXPECT_EQ(store.bytes_in_memory(), kBytes);
  EXPECT_EQ(store.bytes_on_disk(), 2 * kBytes);
  EXPECT_EQ(value(store, 4), 3);  // from the file, as it lies there
}

TEST_F(SavedClientState, StaysWhileACheckpointNamesIt) {
  Versions first;
  {
    ClientStateStore store(1 << 20, states_);
    run_round(store, 1, {3, 4});
    first = store.save();
    store.keep(first);
    run_round(store, 2, {3});
    EXPECT_TRUE(there(3, 1)) << "3 has a newer state, the checkpoint has not";
    store.save();
    EXPECT_TRUE(there(3, 2));
  }
  EXPECT_TRUE(there(3, 1) && there(4, 1));
  EXPECT_FALSE(there(3, 2)) << "nobody names it";
  EXPECT_EQ(folder_.files(), 3U);
}

TEST_F(SavedClientState, GoesOnceNobodyNamesIt) {
  ClientStateStore store(1 << 20, states_);
  run_round(store, 1, {3, 4});
  store.keep(store.save());
  run_round(store, 2, {3});
  const Versions second = store.save();
  store.keep(second);
  EXPECT_FALSE(there(3, 1));
  EXPECT_TRUE(there(4, 1) && there(3, 2));
  store.keep({});  // both are current all the same
  EXPECT_TRUE(there(4, 1) && there(3, 2));
  EXPECT_EQ(store.save(), second);
  run_round(store, 3, {3, 4});
  EXPECT_FALSE(there(4, 1) || there(3, 2));
}

TEST_F(SavedClientState, WithoutACheckpointNothingIsLeft) {
  {
    ClientStateStore store(1 << 20, states_);
    run_round(store, 1, {3, 4});
    store.save();
  }
  EXPECT_EQ(folder_.files(), 0U);
}

/// What a store leaves that saved round 2 (3 of round 1, 4 of round 2) and was killed in round 4.
Versions stopped_run(const fs::path& states) {
  const fs::path killed = states.string() + "-killed";
  Versions saved;
  {
    ClientStateStore store(0, states);
    for (const std::int64_t round : {1, 2, 3}) {
      store.put(4, round, state(static_cast<double>(40 + round)));
      if (round == 1) store.put(3, 1, state(31));
      store.publish(round, {3, 4});
      if (round != 2) continue;
      saved = store.save();
      store.keep(saved);
    }
    store.put(5, 4, state(54));
    fs::copy(states, killed);  // the store's end removes files
  }
  fs::remove_all(states);
  fs::rename(killed, states);
  return saved;
}

TEST_F(SavedClientState, IsTakenUpAgain) {
  const Versions saved = stopped_run(states_);
  ASSERT_TRUE(there(4, 3) && there(5, 4));
  const std::vector<fs::path> foreign = {
      states_ / "notes.txt", states_ / "client-3-round-x.safetensors", states_ / "client-3.txt",
      states_ / "client--3-round-9.safetensors", states_ / "client-3-round-9.safetensors.old"};
  for (const auto& path : foreign) put(path, "mine");

  ClientStateStore store(kBytes, states_);
  store.keep(saved);
  store.restore(saved);
  EXPECT_EQ(value(store, 3), 31);
  EXPECT_EQ(value(store, 4), 42);
  EXPECT_TRUE(store.get(5).empty());
  EXPECT_EQ(store.version(3), 1);
  EXPECT_EQ(store.version(4), 2);
  EXPECT_EQ(store.version(5), 0);
  EXPECT_EQ(store.bytes_on_disk(), 2 * kBytes);
  EXPECT_EQ(store.bytes_in_memory(), 0);
  EXPECT_FALSE(there(4, 3) || there(5, 4)) << "of rounds that nothing remembers";
  for (const auto& path : foreign) EXPECT_EQ(content(path), "mine") << path;

  EXPECT_EQ(store.save(), saved);
  run_round(store, 3, {4}, 43);
  EXPECT_EQ(value(store, 4), 43);
  EXPECT_EQ(store.save(), (Versions{{3, 1, kBytes}, {4, 3, kBytes}}));
  EXPECT_TRUE(there(4, 2));
  store.keep(store.save());
  EXPECT_FALSE(there(4, 2));
}

// Of two checkpoints the older one is gone back to: the newer one's files are still named.
TEST_F(SavedClientState, KeepsFilesOfOtherCheckpointsWhenTakenUp) {
  const Versions saved = stopped_run(states_);
  ClientStateStore store(0, states_);
  store.keep({{3, 1, kBytes}, {4, 2, kBytes}, {4, 3, kBytes}});
  store.restore(saved);
  EXPECT_TRUE(there(4, 3));
  EXPECT_FALSE(there(5, 4));
  run_round(store, 3, {4}, 43);  // the same round again, over that file
  store.keep(store.save());
  EXPECT_EQ(value(store, 4), 43);
  EXPECT_TRUE(there(4, 3));
}

TEST_F(SavedClientState, ReplacesAllThatTheStoreKnew) {
  const Versions saved = stopped_run(states_);
  ClientStateStore store(1 << 20, states_);
  store.keep(saved);
  run_round(store, 1, {8});
  store.put(9, 2, state(9));
  store.restore(saved);
  EXPECT_TRUE(store.get(8).empty());
  store.publish(2, {9});
  EXPECT_TRUE(store.get(9).empty());
  EXPECT_EQ(store.bytes_in_memory(), 0);
  EXPECT_EQ(value(store, 3), 31);
}

TEST_F(SavedClientState, ThatIsMissingOrCutIsRefused) {
  const Versions saved = stopped_run(states_);
  const std::string bytes = content(file(4, 2));
  ClientStateStore store(1 << 20, states_);
  store.keep(saved);
  run_round(store, 1, {8});

  put(file(4, 2), bytes.substr(0, kBytes - 1));
  const auto restore = [&] { store.restore(saved); };
  expect_says(message<DataError>(restore), file(4, 2).string() + ": too short, damaged");
  EXPECT_TRUE(store.get(3).empty() && store.get(8).empty());
  EXPECT_EQ(store.bytes_on_disk() + store.bytes_in_memory(), 0);

  fs::remove(file(4, 2));
  expect_says(message<DataError>(restore), file(4, 2).string() + ": missing");
  put(file(4, 2), bytes);
  EXPECT_EQ(message<DataError>(restore), "nothing thrown");
  EXPECT_EQ(value(store, 4), 42);
}

TEST_F(SavedClientState, OfAFolderThatIsGoneIsMissing) {
  ClientStateStore store(1 << 20, states_);
  store.restore({});
  expect_says(message<DataError>([&] {
                store.restore({{3, 1, kBytes}});
              }),
              file(3, 1).string() + ": missing");
  EXPECT_FALSE(fs::exists(states_));
}

// Its size tells nothing; its seal does, when it is needed.
TEST_F(SavedClientState, ThatIsDamagedIsRefusedWhenItIsNeeded) {
  const Versions saved = stopped_run(states_);
  std::string bytes = content(file(4, 2));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  put(file(4, 2), bytes);
  ClientStateStore store(1 << 20, states_);
  store.keep(saved);
  store.restore(saved);
  EXPECT_EQ(value(store, 3), 31);
  expect_says(message<DataError>([&] { store.get(4); }), file(4, 2).string() + ": damaged");
}

TEST_F(SavedClientState, OnAFullDiskIsSaidAndSavedLater) {
  for (const std::int64_t numbers : {16, 100'000}) {  // of less and of more than a buffer
    SCOPED_TRACE(numbers);
    ClientStateStore store(1 << 20, states_);
    ClientState large = state(3);
    large.correction["h"] = at::full({numbers}, 3, at::kDouble);
    store.put(3, 1, large);
    store.publish(1, {3});
    {
      const DiskOf disk(100);
      const std::string why = message<RunError>([&] { store.save(); });
      expect_says(why, file(3, 1).string() + ": cannot keep a client's state: File too large");
      expect_says(why, "engine.state_memory");
    }
    EXPECT_FALSE(there(3, 1)) << "half of a state takes room and is of no use";
    EXPECT_EQ(value(store, 3), 3);
    EXPECT_EQ(store.save(), (Versions{{3, 1, 8 * numbers}}));
    store.keep(store.save());
    store.restore(store.save());
    EXPECT_EQ(value(store, 3), 3);
    store.keep({});
  }
}

TEST_F(SavedClientState, ThatDoesNotFitIntoMemoryOrOnTheDisk) {
  ClientStateStore store(0, states_);
  const DiskOf disk(100);
  expect_says(message<RunError>([&] { store.put(3, 1, state(1)); }),
              file(3, 1).string() + ": cannot keep a client's state: File too large");
  EXPECT_FALSE(there(3, 1));
}

}  // namespace
}  // namespace fedvg
