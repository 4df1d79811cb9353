#include "data/pooled.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::message_of;
using testing::TemporaryFolder;
using testing::write_idx_set;

IndexList up_to(std::int64_t count) {
  IndexList all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

bool noted(const FederatedData& data, const std::string& text) {
  return std::any_of(data.notes.begin(), data.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

Samples samples(const std::vector<std::int64_t>& labels, std::uint8_t first) {
  Samples made{.channels = 1, .height = 1, .width = 2};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    made.pixels.insert(made.pixels.end(), 2, static_cast<std::uint8_t>(first + i));
  }
  made.labels = labels;
  return made;
}

TEST(PoolTestSet, FollowsTheTrainingSet) {
  Dataset dataset{.name = "tiny", .classes = {"a", "b"}};
  dataset.training = samples({0, 1, 0}, 10);
  dataset.test = samples({1, 1}, 20);
  dataset.training.owners = {"x", "y", "x"};
  dataset.test.owners = {"z", "y"};
  pool_test_set(dataset);
  EXPECT_EQ(dataset.training.labels, (std::vector<std::int64_t>{0, 1, 0, 1, 1}));
  EXPECT_EQ(dataset.training.pixels, (Bytes{10, 10, 11, 11, 12, 12, 20, 20, 21, 21}));
  EXPECT_EQ(dataset.training.owners, (std::vector<std::string>{"x", "y", "x", "z", "y"}));
  EXPECT_EQ(dataset.test.size(), 0);
  EXPECT_TRUE(dataset.test.pixels.empty());
}

TEST(PoolTestSet, RefusesPartsThatDoNotBelongTogether) {
  Dataset dataset{.name = "tiny", .classes = {"a", "b"}, .source = "here"};
  dataset.training = samples({0, 1, 0}, 10);
  dataset.test = samples({1, 1}, 20);
  dataset.training.owners = {"x", "y", "x"};
  EXPECT_EQ(message_of<DataError>([&] { pool_test_set(dataset); }),
            "here: only the training set says whose its samples are; data.split = \"pooled\" needs "
            "both");
  dataset.training.owners.clear();
  dataset.test.width = 1;
  EXPECT_NE(message_of<DataError>([&] { pool_test_set(dataset); }).find("other shapes"),
            std::string::npos);
}

// floor(0.25 * 10) = 2 and floor(0.1 * 10) = 1; of 3 samples nothing; of 9: 2 and 0.
TEST(TakeFromClients, RoundsEachShareDown) {
  std::vector<IndexList> clients(4);
  for (std::int64_t i = 0; i < 22; ++i) clients[i < 10 ? 0 : i < 13 ? 1 : 3].push_back(21 - i);
  const auto before = clients;
  const auto given = take_from_clients(clients, 0.25, 0.1, 22, 1);
  EXPECT_EQ(clients[0].size(), 7u);
  EXPECT_EQ(clients[1], before[1]);
  EXPECT_TRUE(clients[2].empty());
  EXPECT_EQ(clients[3].size(), 7u);
  EXPECT_EQ(given.test.size(), 4u);
  EXPECT_EQ(given.validation.size(), 1u);
  EXPECT_TRUE(std::is_sorted(given.test.begin(), given.test.end()));
  // What is kept stays in its order, here descending.
  EXPECT_TRUE(std::is_sorted(clients[0].rbegin(), clients[0].rend()));
  IndexList all = given.test;
  all.insert(all.end(), given.validation.begin(), given.validation.end());
  for (const auto& client : clients) all.insert(all.end(), client.begin(), client.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, up_to(22));
}

// 0.29 * 100 is 28.999999999999996 in floating point.
TEST(TakeFromClients, CountsWholeSharesAsWhole) {
  std::vector<IndexList> clients = {up_to(100)};
  EXPECT_EQ(take_from_clients(clients, 0.29, 0, 100, 1).test.size(), 29u);
}

TEST(TakeFromClients, DrawsByClientAndSeed) {
  std::vector<IndexList> first = {up_to(40), {}}, second = {up_to(40), {}};
  std::vector<IndexList> third = {up_to(40), {}}, other = {{}, up_to(40)};
  const auto given = take_from_clients(first, 0.25, 0.1, 40, 1);
  EXPECT_EQ(take_from_clients(second, 0.25, 0.1, 40, 1).test, given.test);
  EXPECT_NE(take_from_clients(third, 0.25, 0.1, 40, 2).test, given.test);
  EXPECT_NE(take_from_clients(other, 0.25, 0.1, 40, 1).test, given.test);
  // The test set does not depend on whether there is a D_val.
  std::vector<IndexList> without = {up_to(40), {}};
  EXPECT_EQ(take_from_clients(without, 0.25, 0, 40, 1).test, given.test);
}

// Sample 5 belongs to both: whoever gives it, nobody keeps it, and it is given once.
TEST(TakeFromClients, GivesSharedSamplesOnce) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<IndexList> clients = {{0, 1, 2, 5}, {3, 4, 5, 6}};
    const auto given = take_from_clients(clients, 0.5, 0.25, 7, seed);
    std::multiset<std::int64_t> server(given.test.begin(), given.test.end());
    server.insert(given.validation.begin(), given.validation.end());
    for (const std::int64_t index : server) EXPECT_EQ(server.count(index), 1u);
    for (const auto& client : clients) {
      for (const std::int64_t index : client) EXPECT_EQ(server.count(index), 0u);
    }
  }
}

// 150 training samples and 50 test samples of four classes.
class PooledRun : public ::testing::Test {
 protected:
  PooledRun() {
    Bytes training(150), test(50);
    for (std::size_t i = 0; i < training.size(); ++i) training[i] = i % 4;
    for (std::size_t i = 0; i < test.size(); ++i) test[i] = i % 4;
    write_idx_set(folder_, training, test);
    data_.name = Part{"idx", {}};
    data_.name.options.set("path", folder_.path().string());
    data_.split = "pooled";
    partition_.clients = 5;
    partition_.min_samples = 20;
  }

  FederatedData load(std::uint64_t seed = 1) const {
    return load_federated_data(data_, partition_, validation_, seed);
  }
  void use_file(const std::string& content) {
    partition_.scheme = Part{"file", {}};
    partition_.scheme.options.set("file", folder_.write("p.json", content));
  }

  TemporaryFolder folder_;
  DataOptions data_;
  PartitionOptions partition_;
  ValidationOptions validation_;
};

IndexList everything(const FederatedData& data) {
  IndexList all = data.validation;
  all.insert(all.end(), data.test.begin(), data.test.end());
  for (const auto& client : data.clients) all.insert(all.end(), client.begin(), client.end());
  std::sort(all.begin(), all.end());
  return all;
}

// U25: training, D_val and test are disjoint, by index: each sample is in exactly one list.
TEST_F(PooledRun, GivesEverySampleToOneClientOrTheServer) {
  for (const char* scheme : {"dirichlet", "dirichlet-client", "iid", "shards", "classes"}) {
    partition_.scheme = Part{scheme, {}};
    const auto data = load();
    EXPECT_TRUE(data.pooled);
    EXPECT_EQ(data.dataset.training.size(), 200);
    EXPECT_EQ(&data.test_samples(), &data.dataset.training);
    EXPECT_EQ(everything(data), up_to(200)) << scheme;
    EXPECT_TRUE(std::is_sorted(data.test.begin(), data.test.end()));
    // Some of the publisher's test set is trained on, and the other way round.
    EXPECT_LT(data.test.front(), 150);
    EXPECT_GE(data.test.back(), 150);
  }
}

// iid: five clients of 40, each gives 10 and 4.
TEST_F(PooledRun, TakesTheSharesOfEachClient) {
  partition_.scheme = Part{"iid", {}};
  const auto data = load();
  for (const auto& client : data.clients) EXPECT_EQ(client.size(), 26u);
  EXPECT_EQ(data.test.size(), 50u);
  EXPECT_EQ(data.validation.size(), 20u);
  EXPECT_TRUE(noted(data,
                    "test set: 50 of the 200 pooled samples, data.test_ratio = 0.25 of each "
                    "client's"));
  EXPECT_TRUE(noted(data, "D_val: 20 of the 200 pooled samples, data.val_ratio of each client's"));
  data_.val_ratio = 0.2;
  data_.test_ratio = 0.1;
  const auto other = load();
  EXPECT_EQ(other.test.size(), 20u);
  EXPECT_EQ(other.validation.size(), 40u);
}

TEST_F(PooledRun, TakesOnlyTheTestSetWithoutDval) {
  partition_.scheme = Part{"iid", {}};
  const auto test = load().test;
  validation_.source = "none";
  const auto data = load();
  EXPECT_EQ(data.test, test);
  EXPECT_TRUE(data.validation.empty());
  for (const auto& client : data.clients) EXPECT_EQ(client.size(), 30u);
}

// data.take keeps 100 of the training samples; the test set is whole.
TEST_F(PooledRun, PoolsAfterTake) {
  data_.take = 100;
  const auto data = load();
  EXPECT_EQ(data.dataset.training.size(), 150);
  EXPECT_EQ(data.dataset.training.labels[101], 1);  // of the test set: its second
  EXPECT_EQ(everything(data), up_to(150));
}

TEST_F(PooledRun, ReadsBackWhatItWrites) {
  for (const std::int64_t size : {0, 7}) {
    for (const char* source : {"holdout", "none"}) {
      partition_.scheme = Part{"dirichlet", {}};
      validation_.source = source;
      validation_.size = validation_.source == "none" ? 0 : size;
      const auto written = load();
      const std::string text = partition_json(written);
      use_file(text);
      const auto read = load(99);
      EXPECT_EQ(read.clients, written.clients);
      EXPECT_EQ(read.test, written.test);
      EXPECT_EQ(read.counts, written.counts);
      EXPECT_EQ(read.identity.fingerprint, written.identity.fingerprint);
      if (size == 0) {
        EXPECT_EQ(read.validation, written.validation);
      }
      EXPECT_EQ(read.validation.size(), written.validation.size());
      EXPECT_TRUE(noted(read, "as the partition file says"));
      // But for what it was drawn from, the file is the same.
      const auto without_source = [](const std::string& json) {
        return json.substr(json.find("\n\"data\""));
      };
      EXPECT_EQ(without_source(partition_json(read)), without_source(text));
    }
  }
}

TEST_F(PooledRun, IsRefusedByOtherData) {
  use_file(partition_json(load()));
  data_.take = 149;
  EXPECT_NE(message_of<DataError>([&] { load(); }).find("was written for other data"),
            std::string::npos);
  data_.take = 0;
  data_.split = "official";
  EXPECT_NE(message_of<DataError>([&] {
              load();
            }).find("(data.take, data.split and partition.column included)"),
            std::string::npos);
  // As many samples, but the last label is another.
  data_.split = "pooled";
  Bytes training(150), test(50);
  for (std::size_t i = 0; i < training.size(); ++i) training[i] = i % 4;
  for (std::size_t i = 0; i < test.size(); ++i) test[i] = i % 4;
  test.back() = 2;
  write_idx_set(folder_, training, test);
  EXPECT_NE(message_of<DataError>([&] { load(); }).find("was written for other data"),
            std::string::npos);
}

// Indexes count the training samples, then those of the test set.
TEST_F(PooledRun, TakesAFileAsItStands) {
  use_file(R"({"clients": [[0, 199], [150, 1]], "validation": [3], "test": [151, 2]})");
  const auto data = load();
  EXPECT_EQ(data.clients, (std::vector<IndexList>{{0, 199}, {150, 1}}));
  EXPECT_EQ(data.validation, (IndexList{3}));
  EXPECT_EQ(data.test, (IndexList{151, 2}));
}

TEST_F(PooledRun, TakesTheTestSetOfAFileWithoutOneFromItsClients) {
  use_file(R"({"clients": [[0, 199, 5, 6], [150, 1]], "validation": [3]})");
  const auto data = load();
  EXPECT_EQ(data.validation, (IndexList{3}));
  EXPECT_EQ(data.test.size(), 1u);
  EXPECT_EQ(data.clients[0].size(), 3u);
  EXPECT_EQ(data.clients[1], (IndexList{150, 1}));
}

TEST_F(PooledRun, RefusesEmptyTestSets) {
  use_file(R"({"clients": [[0], [1]], "validation": [3], "test": []})");
  EXPECT_NE(message_of<DataError>([&] { load(); }).find("\"test\" of the partition file is empty"),
            std::string::npos);
  use_file(R"({"clients": [[0], [1]], "validation": [3]})");
  EXPECT_NE(message_of<OptionError>([&] {
              load();
            }).find("data.test_ratio = 0.25: no client has enough samples"),
            std::string::npos);
  use_file(R"({"clients": [[0], [1]], "test": [3]})");
  EXPECT_NE(message_of<OptionError>([&] { load(); }).find("data.val_ratio: no client has enough"),
            std::string::npos);
}

TEST_F(PooledRun, IsWhatATestSetInAFileNeeds) {
  data_.split = "official";
  use_file(R"({"clients": [[0], [1]], "validation": [3], "test": [5]})");
  EXPECT_NE(message_of<DataError>([&] { load(); }).find("set data.split = \"pooled\""),
            std::string::npos);
}

TEST_F(PooledRun, SaysWhichSettingsBelongToTheOtherSplit) {
  validation_.ratio = 0.2;
  EXPECT_TRUE(noted(load(),
                    "validation.ratio = 0.2 does not apply with data.split = \"pooled\": "
                    "data.val_ratio = 0.1 does"));
  validation_ = {};
  validation_.source = "none";
  data_.val_ratio = 0.2;
  EXPECT_TRUE(noted(load(),
                    "data.val_ratio = 0.2 has no effect with validation.source = "
                    "\"none\""));
  validation_ = {};
  data_.split = "official";
  data_.test_ratio = 0.3;
  const auto data = load();
  EXPECT_TRUE(noted(data, "data.val_ratio = 0.2 does not apply with data.split = \"official\""));
  EXPECT_TRUE(noted(data,
                    "data.test_ratio = 0.3 applies with data.split = \"pooled\" and to data "
                    "without a test set only"));
  data_ = {.name = data_.name};
  EXPECT_FALSE(noted(load(), "appl"));
}

TEST_F(PooledRun, RefusesRatiosThatLeaveNothing) {
  data_.val_ratio = 0.5;
  data_.test_ratio = 0.5;
  EXPECT_EQ(message_of<OptionError>([&] { load(); }),
            "data.val_ratio = 0.5 and data.test_ratio = 0.5 leave the clients nothing: their sum "
            "must be below 1");
}

TEST_F(PooledRun, GoesWithBalancedClients) {
  partition_.balanced = 2;
  const auto data = load();
  EXPECT_EQ(everything(data), up_to(200));
  EXPECT_EQ(data.source,
            "dirichlet, alpha = 0.1, clients = 5, balanced = 2, min_samples = 20, on_short = "
            "repair, seed 1, training and test set pooled");
  EXPECT_EQ(data.clients[0].size(), 26u);  // of 38 = 10 + 10 + 9 + 9
  EXPECT_EQ(data.clients[1].size(), 26u);
}

}  // namespace
}  // namespace fedvg
