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

}  // namespace
}  // namespace fedvg
