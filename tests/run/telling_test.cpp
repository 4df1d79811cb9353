// Facts about a run in words and files: environment.json, the partition's table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fedvg/version.h"
#include "run/environment.h"
#include "run/memory_estimate.h"
#include "run/partition_table.h"

namespace fedvg {
namespace {

TEST(Environment, SaysWhatNumbersAndSpeedDependOn) {
  FederationInfo federation;
  federation.workers = 3;
  federation.threads = 2;
  federation.parameters = 900;
  federation.live = 340;
  federation.memory_format = "channels_last";
  federation.libtorch_version = "2.13.0";
  federation.device = "cpu";
  const auto environment = environment_here({.mmap_threshold = 1 << 30});
  EXPECT_GE(environment.cores, 1);
  const auto json = nlohmann::json::parse(environment_text(environment, federation));
  EXPECT_EQ(json["fedvg"]["version"], FEDVG_VERSION);
  EXPECT_EQ(json["fedvg"]["commit"], FEDVG_COMMIT);
  EXPECT_EQ(json["libtorch"], "2.13.0");
  EXPECT_EQ(json["workers"], 3);
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["weights"]["all"], 900);
  EXPECT_EQ(json["weights"]["live_taps"], 340);
  EXPECT_EQ(json["memory_format"], "channels_last");
  EXPECT_EQ(json["malloc"]["mmap_threshold"], 1 << 30);
  EXPECT_NE(json["processor"], "");
}

TEST(PartitionTable, CountsClientsAndDValByClass) {
  FederatedData data;
  data.dataset.classes = {"cat", "dog"};
  data.dataset.training.labels = {0, 1, 1, 0, 1};
  data.clients = {{0, 1}, {2}};
  data.counts = {{1, 1}, {0, 1}};
  data.validation = {3, 4};
  EXPECT_EQ(partition_table(data),
            "classes: 0 = cat, 1 = dog\n\n"
            "  client  samples   0   1\n"
            "       0        2   1   1\n"
            "       1        1   0   1\n"
            "   D_val        2   1   1\n"
            " clients        3   1   2\n");
}

TEST(PartitionTable, NamesClientsAndCountsAPooledTestSet) {
  FederatedData data;
  data.dataset.classes = {"cat", "dog"};
  data.dataset.training.labels = {0, 1, 1, 0, 1};
  data.clients = {{0}, {2}};
  data.client_names = {"alice", "bob"};
  data.counts = {{1, 0}, {0, 1}};
  data.validation_set = Samples{};
  data.validation_set->labels = {1, 1};
  data.validation = {0, 1};
  data.pooled = true;
  data.test = {3, 4};
  EXPECT_EQ(partition_table(data),
            "classes: 0 = cat, 1 = dog\n\n"
            "  client  samples   0   1\n"
            " 0 alice        1   1   0\n"
            "   1 bob        1   0   1\n"
            "   D_val        2   0   2\n"
            "    test        2   1   1\n"
            " clients        2   1   1\n");
}

// (2 sums + 4 waiting + 2 workers) * 2.5 MB + 47 MB = 67 MB.
TEST(MemoryEstimate, AddsUpModelsAndData) {
  const MemoryEstimate estimate{
      .model = 2'500'000, .parts = 2, .waiting = 4, .workers = 2, .data = 47'000'000};
  EXPECT_EQ(estimate.total(), 67'000'000);
  EXPECT_EQ(estimate.text(),
            "memory: about 67.0 MB = (2 sums + 4 waiting + 2 workers) x 2.5 MB of model + 47.0 MB "
            "of data, beside libtorch and the activations of a batch");
}

// (1 + 0 + 1) * 1 MB + 3 MB + 10 MB = 15 MB.
TEST(MemoryEstimate, AddsTheStatesOfTheClients) {
  MemoryEstimate estimate{
      .model = 1'000'000, .parts = 1, .workers = 1, .data = 3'000'000, .states = 10'000'000};
  EXPECT_EQ(estimate.total(), 15'000'000);
  EXPECT_EQ(estimate.text(),
            "memory: about 15.0 MB = (1 sum + 0 waiting + 1 worker) x 1.0 MB of model + 3.0 MB of "
            "data + 10.0 MB of clients' states, beside libtorch and the activations of a batch");
  estimate.on_disk = 7'000'000;
  EXPECT_EQ(estimate.total(), 15'000'000);
  EXPECT_NE(estimate.text().find("10.0 MB of clients' states (engine.state_memory; 7.0 MB more on "
                                 "disk)"),
            std::string::npos)
      << estimate.text();
}

}  // namespace
}  // namespace fedvg
