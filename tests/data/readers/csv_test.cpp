#include <algorithm>

#include "data/federated_data.h"
#include "data/testing.h"
#include "fedvg/dataset.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

Dataset read_from(const Table& options, const ReadRequest& request = {}) {
  return Registry<DatasetReader>::instance().make("csv", options)->read(request);
}

TEST(CsvReader, ReadsWithItsOptions) {
  const TemporaryFolder folder;
  const Dataset dataset =
      read_from({{"path", folder.write("a.csv", std::string("id,c,x,who\nk,0,1,B\nl,1,2,A\n"))},
                 {"test", folder.write("b.csv", std::string("id,c,x\nm,1,3\n"))},
                 {"label", "c"},
                 {"ignore", Array{"id"}}},
                {.owner_column = "who"});
  EXPECT_EQ(dataset.name, "csv");
  EXPECT_EQ(dataset.training.channels, 1);
  EXPECT_EQ(dataset.training.owners, (std::vector<std::string>{"B", "A"}));
  EXPECT_EQ(dataset.test.labels, (std::vector<std::int64_t>{1}));
}

// Somebody's own file with a column of clients: the grouping is kept exactly, whatever D_val is.
TEST(CsvReader, BringsItsClients) {
  const TemporaryFolder folder;
  DataOptions data;
  data.name = {"csv",
               {{"path", folder.write("a.csv", std::string("site,x,label\nB,1,no\nA,2,yes\nB,3,"
                                                           "yes\n\"C, D\",4,no\nB,5,yes\n"))},
                {"test", folder.write("b.csv", std::string("x,label\n6,no\n"))}}};
  PartitionOptions partition;
  partition.scheme = {"natural", {{"column", "site"}}};
  ValidationOptions validation;
  validation.source = "none";
  const FederatedData federated = load_federated_data(data, partition, validation, 1);
  EXPECT_EQ(federated.client_names, (std::vector<std::string>{"A", "B", "C, D"}));
  EXPECT_EQ(federated.clients, (std::vector<IndexList>{{1}, {0, 2, 4}, {3}}));
  EXPECT_EQ(federated.counts, (std::vector<std::vector<std::int64_t>>{{0, 1}, {1, 2}, {1, 0}}));
}

// A training file of eight rows with text columns beside the feature, and settings for it.
class OwnTable : public ::testing::Test {
 protected:
  OwnTable() {
    std::string rows = "id,site,x,class\n";
    for (int i = 0; i < 8; ++i) {
      const std::string x = std::to_string(i);
      rows += "k" + x + (i % 3 == 0 ? ",B," : ",A,") + x + (i % 2 == 0 ? ",no\n" : ",yes\n");
    }
    data_.name = {
        "csv",
        {{"path", folder_.write("a.csv", rows)}, {"label", "class"}, {"ignore", Array{"id"}}}};
    partition_.scheme = {"natural", {{"column", "site"}}};
    validation_.source = "none";
  }
  FederatedData load() const { return load_federated_data(data_, partition_, validation_, 1); }

  const TemporaryFolder folder_;
  DataOptions data_;
  PartitionOptions partition_;
  ValidationOptions validation_;
};

TEST_F(OwnTable, HasItsColumnsInAForeignFileToo) {
  validation_.source = "file";
  validation_.path =
      folder_.write("v.csv", std::string("class,x,site\nno,50,C\nno,51,C\nyes,52,C\nyes,53,C\n"));
  const auto data = load();
  EXPECT_EQ(data.validation_samples().size(), 4);
  EXPECT_EQ(data.validation_samples().channels, 1);
}

// U34
TEST_F(OwnTable, IsDividedAgainByTheFileOfItsPartition) {
  const auto drawn = load();
  const auto path = folder_.path() / "p.json";
  write_partition_json(drawn, path);
  partition_.scheme = {"file", {{"file", path.string()}, {"column", "site"}}};
  EXPECT_EQ(load().clients, drawn.clients);
  EXPECT_EQ(load().identity.fingerprint, drawn.identity.fingerprint);

  data_.name.options.set("ignore", Array{"id", "site"});
  EXPECT_EQ(load().clients, drawn.clients);
  partition_.scheme.options.erase("column");
  EXPECT_EQ(load().clients, drawn.clients);
  partition_.scheme = {"natural", {{"column", "site"}}};
  EXPECT_NE(message_of<OptionError>([&] { load(); }).find("needed as the column of owners"),
            std::string::npos);
}

TEST_F(OwnTable, IsPooledWithoutANoteOfAnotherTestSet) {
  data_.split = "pooled";
  const auto said = [](const FederatedData& data) {
    return std::ranges::count_if(data.notes,
                                 [](auto& note) { return note.starts_with("test set: "); });
  };
  const auto data = load();
  EXPECT_EQ(said(data), 1);
  EXPECT_EQ(
      std::ranges::count_if(
          data.notes, [](auto& note) { return note.find("held out, ") != std::string::npos; }),
      0);
  data_.split = "official";
  EXPECT_EQ(said(load()), 1);
}

TEST(CsvReader, NeedsAPath) {
  EXPECT_NE(message_of<OptionError>([] { read_from({}); }).find("data.path"), std::string::npos);
}

}  // namespace
}  // namespace fedvg
