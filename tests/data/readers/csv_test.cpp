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

TEST(CsvReader, NeedsAPath) {
  EXPECT_NE(message_of<OptionError>([] { read_from({}); }).find("data.path"), std::string::npos);
}

}  // namespace
}  // namespace fedvg
