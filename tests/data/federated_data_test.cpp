#include "data/federated_data.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

#include "data/testing.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::message_of;
using testing::TemporaryFolder;
using testing::write_idx_set;

Part part(const std::string& name, const std::string& key = "", const Value& value = 0) {
  Part made{name, {}};
  if (!key.empty()) made.options.set(key, value);
  return made;
}

// 200 training samples, labels 0 to 3 in turn, image i of value i; four test samples with
// values from above.
class FederatedDataTest : public ::testing::Test {
 protected:
  FederatedDataTest() {
    Bytes labels(200);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i % 4);
    write_idx_set(folder_, labels, {0, 1, 2, 3});
    data_.name = part("idx", "path", folder_.path().string());
    partition_.clients = 5;
    partition_.min_samples = 4;
  }

  FederatedData load(std::uint64_t seed = 1) const {
    return load_federated_data(data_, partition_, validation_, seed);
  }
  void use_file(const std::string& content) {
    partition_.scheme = part("file", "file", folder_.write("p.json", content));
  }

  TemporaryFolder folder_;
  DataOptions data_;
  PartitionOptions partition_;
  ValidationOptions validation_;
};

bool noted(const FederatedData& data, const std::string& text) {
  return std::any_of(data.notes.begin(), data.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

IndexList everything(const FederatedData& data) {
  IndexList all = data.validation;
  for (const auto& client : data.clients) all.insert(all.end(), client.begin(), client.end());
  std::sort(all.begin(), all.end());
  return all;
}

IndexList up_to(std::int64_t count) {
  IndexList all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

TEST_F(FederatedDataTest, GivesEverySampleToDvalOrOneClient) {
  for (const char* scheme : {"dirichlet", "iid"}) {
    partition_.scheme = part(scheme);
    const FederatedData data = load();
    EXPECT_EQ(data.clients.size(), 5u);
    EXPECT_EQ(data.validation.size(), 20u);
    EXPECT_EQ(everything(data), up_to(200));
    EXPECT_TRUE(noted(data, "D_val: 20 of the 200 training samples held out"));
  }
}

TEST_F(FederatedDataTest, CountsSamplesByClientAndClass) {
  use_file("[[0, 1, 4, 8], [], [2, 3, 7]]");
  validation_.source = "none";
  EXPECT_EQ(load().counts,
            (std::vector<std::vector<std::int64_t>>{{3, 1, 0, 0}, {0, 0, 0, 0}, {0, 0, 1, 2}}));
}

TEST_F(FederatedDataTest, DrawsDvalWhateverTheSchemeAndTheClients) {
  const IndexList first = load().validation;
  partition_.scheme = part("iid");
  partition_.clients = 9;
  EXPECT_EQ(load().validation, first);
  EXPECT_NE(load(2).validation, first);
  std::vector<int> classes(4);
  for (const std::int64_t index : first) ++classes[static_cast<std::size_t>(index % 4)];
  EXPECT_EQ(classes, std::vector<int>(4, 5));
}

TEST_F(FederatedDataTest, KeepsTheClientsWhateverTheSizeOfDval) {
  const auto first = load();
  validation_.size = 8;
  const auto second = load();
  EXPECT_EQ(second.clients, first.clients);
  EXPECT_EQ(second.validation.size(), 8u);
  EXPECT_TRUE(std::includes(first.validation.begin(), first.validation.end(),
                            second.validation.begin(), second.validation.end()));
  EXPECT_TRUE(noted(second, "validation.size: 8 of them are used, the others by nobody"));
  validation_.size = 21;
  EXPECT_EQ(message_of<OptionError>([&] { load(); }),
            "validation.size = 21 is more than the 20 samples of D_val");
}

// U25: of 204 images that all differ none is in two parts, by position and by content.
TEST_F(FederatedDataTest, GivesNoImageToTwoParts) {
  partition_.min_samples = 5;
  for (const char* split : {"official", "pooled"}) {
    for (const char* scheme :
         {"classes", "dirichlet", "dirichlet-client", "iid", "quantity", "shards"}) {
      for (const std::int64_t balanced : {0, 2}) {
        data_.split = split;
        partition_.scheme = part(scheme);
        partition_.balanced = balanced;
        const auto data = load();
        std::set<std::uint8_t> images;
        std::size_t samples = 0;
        const auto take = [&](const Samples& from, const IndexList& list) {
          samples += list.size();
          for (const std::int64_t i : list) images.insert(from.image(i)[0]);
        };
        for (const auto& client : data.clients) take(data.dataset.training, client);
        take(data.validation_samples(), data.validation);
        take(data.test_samples(), data.test);
        EXPECT_FALSE(data.validation.empty());
        EXPECT_FALSE(data.test.empty());
        EXPECT_EQ(samples, 204u) << split << ' ' << scheme;
        EXPECT_EQ(images.size(), 204u) << split << ' ' << scheme;
        EXPECT_FALSE(noted(data, "pixel-for-pixel copy")) << split << ' ' << scheme;
      }
    }
  }
}

TEST_F(FederatedDataTest, NeedsNoDval) {
  validation_.source = "none";
  const auto data = load();
  EXPECT_TRUE(data.validation.empty());
  EXPECT_EQ(everything(data), up_to(200));
}

TEST_F(FederatedDataTest, RefusesADvalOfNothing) {
  data_.take = 20;
  partition_.clients = 2;
  validation_.ratio = 0.02;
  EXPECT_EQ(message_of<OptionError>([&] { load(); }),
            "validation.ratio = 0.02 of the 20 training samples is no sample at all: raise it, "
            "or set validation.source = \"none\"");
}

// round(0.05 * 20) = 1.
TEST_F(FederatedDataTest, NamesTheClassesThatDvalLacks) {
  data_.take = 20;
  partition_.clients = 2;
  validation_.ratio = 0.05;
  const auto data = load();
  EXPECT_EQ(data.validation.size(), 1u);
  EXPECT_TRUE(noted(data, "D_val has no sample of class 1, 2, 3"));
}

// Labels 1 and 3 where there could be 0 to 3: the likely slips are labels that count from 1
// and one label far from the others.
TEST_F(FederatedDataTest, NamesTheClassesThatTheTrainingSetLacks) {
  EXPECT_FALSE(noted(load(), "the training set has no sample"));
  Bytes labels(200, 1);
  labels[7] = 3;
  write_idx_set(folder_, labels, {1});
  EXPECT_TRUE(noted(load(),
                    "the training set has no sample of 2 of 4 classes (0, 2); the model "
                    "has an output for each"));
}

// In the order of their classes, as an image folder is: 50 of each, of which 100 are two.
TEST_F(FederatedDataTest, NamesTheClassesThatTakeLeavesOut) {
  Bytes labels(200);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i / 50);
  write_idx_set(folder_, labels, {1});
  EXPECT_FALSE(noted(load(), "the training set has no sample"));
  data_.take = 100;
  EXPECT_TRUE(noted(load(),
                    "the training set has no sample of 2 of 4 classes (2, 3): data.take = 100 "
                    "takes the first samples, whatever their classes; the model"));
}

TEST_F(FederatedDataTest, TakesTheFirstSamples) {
  data_.take = 50;
  const auto data = load();
  EXPECT_EQ(data.dataset.training.size(), 50);
  EXPECT_EQ(data.dataset.training.pixels.size(), 200u);
  EXPECT_EQ(everything(data), up_to(50));
  EXPECT_EQ(data.identity.samples, 50);
  data_.take = 201;
  EXPECT_NE(message_of<OptionError>([&] { load(); }).find("data.take = 201 is more than the 200"),
            std::string::npos);
}

TEST_F(FederatedDataTest, RefusesAMinimumThatCannotExist) {
  partition_.min_samples = 37;  // 180 are left for 5 clients
  EXPECT_NE(message_of<OptionError>([&] { load(); })
                .find("need 5 x 37 samples, but the clients "
                      "have 180"),
            std::string::npos);
}

TEST_F(FederatedDataTest, CountsEmptyClients) {
  partition_.clients = 500;
  partition_.min_samples = 0;
  partition_.scheme = part("iid");
  EXPECT_TRUE(noted(load(), "320 of 500 clients are empty"));
}

TEST_F(FederatedDataTest, RefusesClientsThatAreAllEmpty) {
  use_file("[[], []]");
  EXPECT_NE(message_of<DataError>([&] { load(); }).find("no client has a sample: all 2"),
            std::string::npos);
}

TEST_F(FederatedDataTest, SaysWhenDvalLeavesNothingToTheClients) {
  partition_.scheme = part("iid");
  partition_.min_samples = 0;
  validation_.ratio = 0.999;
  const auto message = message_of<DataError>([&] { load(); });
  EXPECT_TRUE(message.ends_with("; validation.ratio holds 200 of the 200 training samples out"))
      << message;
}

TEST_F(FederatedDataTest, TakesDvalFromTheFile) {
  use_file(R"({"clients": [[0, 1, 2], [9, 8]], "validation": [7, 5, 6, 4, 3]})");
  auto data = load();
  EXPECT_EQ(data.clients, (std::vector<IndexList>{{0, 1, 2}, {9, 8}}));
  EXPECT_EQ(data.validation, (IndexList{7, 5, 6, 4, 3}));
  EXPECT_TRUE(noted(data, "D_val: 5 of the 200 training samples, as the partition file says"));
  validation_.size = 4;
  data = load();
  EXPECT_EQ(data.validation.size(), 4u);
  EXPECT_EQ(data.clients.size(), 2u);
  validation_.size = 0;
  validation_.source = "none";
  data = load();
  EXPECT_TRUE(data.validation.empty());
  EXPECT_TRUE(noted(data, "the 5 validation samples of the partition file stay unused"));
}

TEST_F(FederatedDataTest, TakesADrawnDvalOutOfTheFilesClients) {
  std::string content = "[[";
  for (int i = 0; i < 200; ++i)
    content += std::to_string(i) + (i == 99 ? "], [" : i < 199 ? "," : "");
  use_file(content + "]]");
  const auto data = load();
  EXPECT_EQ(data.validation.size(), 20u);
  EXPECT_EQ(everything(data), up_to(200));
  validation_.source = "none";
  EXPECT_EQ(load().clients[0], up_to(100));
}

TEST_F(FederatedDataTest, RefusesAnEmptyDvalInAFile) {
  use_file(R"({"clients": [[0, 1, 2]], "validation": []})");
  EXPECT_NE(message_of<DataError>([&] { load(); }).find("validation.source = \"none\""),
            std::string::npos);
  validation_.source = "none";
  EXPECT_NO_THROW(load());
}

TEST_F(FederatedDataTest, AllowsSharedSamplesWithOverlap) {
  use_file(R"({"clients": [[0, 1], [1, 2]], "validation": [5]})");
  EXPECT_THROW(load(), DataError);
  partition_.overlap = true;
  EXPECT_EQ(load().clients, (std::vector<IndexList>{{0, 1}, {1, 2}}));
}

TEST_F(FederatedDataTest, RefusesAnotherNumberOfClientsThanTheFiles) {
  use_file("[[0], [1]]");
  validation_.source = "none";
  const auto load_with = [&](std::int64_t clients) {
    return load_federated_data(data_, partition_, validation_, 1, clients);
  };
  EXPECT_EQ(load_with(2).clients.size(), 2u);
  const auto message = message_of<OptionError>([&] { load_with(3); });
  EXPECT_TRUE(message.starts_with("partition.clients = 3, but file, file = ")) << message;
  EXPECT_TRUE(message.ends_with(" has 2 clients")) << message;
}

TEST_F(FederatedDataTest, ReadsBackWhatItWrites) {
  const auto written = load();
  const auto path = folder_.path() / "p.json";
  write_partition_json(written, path);
  partition_.scheme = part("file", "file", path.string());
  auto read = load(99);
  EXPECT_EQ(read.clients, written.clients);
  EXPECT_EQ(read.validation, written.validation);
  EXPECT_EQ(read.counts, written.counts);
  const auto json = nlohmann::json::parse(partition_json(written));
  EXPECT_EQ(json["source"],
            "dirichlet, alpha = 0.1, clients = 5, min_samples = 4, on_short = repair, seed 1");
  // Of other data it is refused, even when every index exists.
  data_.take = 199;
  EXPECT_NE(message_of<DataError>([&] { load(); }).find("was written for other data"),
            std::string::npos);
}

TEST_F(FederatedDataTest, SaysWhenAPartitionCannotBeWritten) {
  EXPECT_THROW(write_partition_json(load(), folder_.path() / "absent" / "p.json"), RunError);
}

// Image 2 of the training set has the pixels of the first test image, and so has image 3.
TEST_F(FederatedDataTest, CountsImagesThatAreInTwoParts) {
  Bytes pixels(16, 9);
  std::fill(pixels.begin() + 8, pixels.end(), std::uint8_t{255});
  folder_.write("train-images-idx3-ubyte", testing::idx_file({4, 2, 2}, pixels));
  folder_.write("train-labels-idx1-ubyte", testing::idx_file({4}, {0, 1, 2, 3}));
  use_file(R"({"clients": [[0], [2]], "validation": [1, 3]})");
  EXPECT_TRUE(noted(load(),
                    "images with a pixel-for-pixel copy in another part: 1 of the clients in the "
                    "test set, 2 of the clients in D_val, 1 of D_val in the test set"));
}

TEST_F(FederatedDataTest, NamesUnknownParts) {
  data_.name = part("fashion-mnst");
  EXPECT_NE(message_of<OptionError>([&] { load(); }).find("fashion-mnist"), std::string::npos);
  partition_.scheme = part("dirichlett");
  EXPECT_NE(message_of<OptionError>([&] { load(); }).find("dirichlet"), std::string::npos);
}

TEST_F(FederatedDataTest, BalancesTheFirstClients) {
  partition_.balanced = 2;
  const FederatedData data = load();
  EXPECT_EQ(everything(data), up_to(200));
  // 45 of each class are left beside D_val, for five clients.
  EXPECT_EQ(data.counts[0], (std::vector<std::int64_t>{9, 9, 9, 9}));
  EXPECT_EQ(data.counts[1], data.counts[0]);
  EXPECT_NE(data.counts[2], data.counts[0]);
  EXPECT_NE(data.source.find(", clients = 5, balanced = 2, "), std::string::npos) << data.source;
}

TEST_F(FederatedDataTest, KnowsNoNaturalClientsOfAFormatWithoutThem) {
  partition_.scheme = part("natural", "column", "who");
  EXPECT_THROW(load(), OptionError);
}

// Twelve samples of two classes that belong to three people by turns, in the column "who".
class OwnedReader final : public DatasetReader {
 public:
  explicit OwnedReader(const NoOptions&) {}

 private:
  Dataset load(const ReadRequest& request) const override {
    Dataset dataset{.name = "test-owned", .classes = {"0", "1"}, .source = "a test"};
    dataset.training = samples(12, request.owner_column);
    dataset.test = samples(8, request.owner_column);
    return dataset;
  }
  static Samples samples(std::int64_t count, const std::string& column) {
    Samples made{.channels = 1, .height = 1, .width = 1};
    for (std::int64_t i = 0; i < count; ++i) {
      made.pixels.push_back(static_cast<std::uint8_t>(10 * count + i));
      made.labels.push_back(i % 2);
      if (column == "who") made.owners.push_back(std::to_string(100 - 45 * (i % 3)));
    }
    return made;
  }
};

FEDVG_REGISTER(DatasetReader, "test-owned", OwnedReader, NoOptions, "for a test");

class NaturalClients : public ::testing::Test {
 protected:
  NaturalClients() {
    data_.name = part("test-owned");
    partition_.scheme = part("natural", "column", "who");
    validation_.source = "none";
  }
  FederatedData load(std::optional<std::int64_t> clients = std::nullopt) const {
    return load_federated_data(data_, partition_, validation_, 1, clients);
  }

  DataOptions data_;
  PartitionOptions partition_;
  ValidationOptions validation_;
};

// Owners are 100, 55, 10, by turns: in the order of the numbers 10, 55, 100.
// U34
TEST_F(NaturalClients, AreThoseOfTheData) {
  const auto data = load();
  EXPECT_EQ(data.clients, (std::vector<IndexList>{{2, 5, 8, 11}, {1, 4, 7, 10}, {0, 3, 6, 9}}));
  EXPECT_EQ(data.client_names, (std::vector<std::string>{"10", "55", "100"}));
  EXPECT_EQ(data.source, "natural, column = \"who\"");
  EXPECT_TRUE(noted(data, "3 clients by \"who\", as it stands: 0 = 10, 1 = 55, 2 = 100"));
}

TEST_F(NaturalClients, AreAsManyAsTheyAre) {
  EXPECT_EQ(load(3).clients.size(), 3u);
  EXPECT_EQ(message_of<OptionError>([&] { load(100); }),
            "partition.clients = 100, but natural, column = \"who\" has 3 clients");
}

TEST_F(NaturalClients, LeaveDvalOutAndFollowTake) {
  data_.take = 10;
  validation_.source = "holdout";
  validation_.ratio = 0.2;
  const auto data = load();
  EXPECT_EQ(data.validation.size(), 2u);
  EXPECT_EQ(everything(data), up_to(10));
}

// Sample 12 is the first of the test set: it belongs to 100, client 2, like sample 0.
TEST_F(NaturalClients, GoWithPooledData) {
  data_.split = "pooled";
  data_.test_ratio = 0.3;
  const auto data = load();
  EXPECT_EQ(data.clients.size(), 3u);
  IndexList all = data.test;
  for (std::size_t k = 0; k < 3; ++k) {
    for (const std::int64_t index : data.clients[k]) {
      EXPECT_EQ(2 - (index < 12 ? index : index - 12) % 3, static_cast<std::int64_t>(k));
    }
    all.insert(all.end(), data.clients[k].begin(), data.clients[k].end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, up_to(20));
  EXPECT_EQ(data.test.size(), 5u);  // of 6, 7 and 7: 1 + 2 + 2
}

TEST_F(NaturalClients, AreRefusedWhereTheColumnSaysNothing) {
  partition_.scheme = part("natural", "column", "else");
  EXPECT_NE(message_of<OptionError>([&] { load(); }).find("does not say whose"), std::string::npos);
}

// U22: 1000 samples, 100 clients, alpha 0.05, no minimum: about a fifth of the clients is empty.
TEST(FederatedData, OfStrongSkewSaysHowManyClientsAreEmpty) {
  if (!testing::has_fashion_mnist()) GTEST_SKIP() << "apt-get install dataset-fashion-mnist";
  DataOptions data;
  data.take = 1000;
  PartitionOptions partition;
  partition.scheme = part("dirichlet", "alpha", 0.05);
  partition.min_samples = 0;
  const auto loaded = load_federated_data(data, partition, {}, 1);
  const auto empty = std::count_if(loaded.clients.begin(), loaded.clients.end(),
                                   [](const auto& client) { return client.empty(); });
  EXPECT_GT(empty, 5);
  EXPECT_LT(empty, 40);
  EXPECT_TRUE(noted(loaded, std::to_string(empty) + " of 100 clients are empty"));
}

TEST(FederatedData, DefaultsAreFashionMnistOverAHundredClients) {
  if (!testing::has_fashion_mnist()) GTEST_SKIP() << "apt-get install dataset-fashion-mnist";
  const auto data = load_federated_data({}, {}, {}, 1);
  EXPECT_EQ(data.clients.size(), 100u);
  EXPECT_EQ(data.validation.size(), 6000u);
  EXPECT_EQ(everything(data), up_to(60'000));
  for (const auto& client : data.clients) EXPECT_GE(client.size(), 10u);
}

// FEDVG_SHARED names a folder with peers/partition_fmnist_*.json.
TEST(FederatedData, ReadsThePartitionsOfThePeers) {
  const char* shared = std::getenv("FEDVG_SHARED");
  if (!shared) GTEST_SKIP() << "FEDVG_SHARED is not set";
  if (!testing::has_fashion_mnist()) GTEST_SKIP() << "apt-get install dataset-fashion-mnist";
  const std::string peers = std::string(shared) + "/peers/";
  PartitionOptions partition;
  partition.scheme = part("file", "file", peers + "partition_fmnist_a0.1_100.json");
  auto data = load_federated_data({}, partition, {.source = "none"}, 1);
  EXPECT_EQ(data.clients.size(), 100u);
  EXPECT_EQ(everything(data), up_to(60'000));

  partition.scheme = part("file", "file", peers + "partition_fmnist_vg.json");
  data = load_federated_data({}, partition, {}, 1);
  EXPECT_EQ(data.validation.size(), 6000u);
  EXPECT_TRUE(std::ranges::all_of(data.validation, [](std::int64_t i) { return i % 10 == 0; }));
  EXPECT_EQ(everything(data), up_to(60'000));
}

}  // namespace
}  // namespace fedvg
