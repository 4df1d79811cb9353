#include "data/balanced.h"

#include "data/partitions/testing.h"
#include "data/testing.h"

namespace fedvg {
namespace {

using testing::class_table;
using testing::draw;
using testing::expect_divided;
using testing::labels_by_class;
using testing::message_of;
using testing::request_for;

Partition balanced(const PartitionRequest& request, std::int64_t count,
                   const std::string& scheme = "dirichlet", Table options = {}) {
  const auto partitioner = Registry<Partitioner>::instance().make(scheme, std::move(options));
  return draw_partition(*partitioner, request, count);
}

// 40, 27 and 3 samples of three classes among 4 clients: shares of 10, 6 and 0.
TEST(Balanced, FirstClientsGetEqualSharesOfEveryClass) {
  const auto labels = labels_by_class({40, 27, 3});
  const auto request = request_for(labels, 4, 1);
  const auto partition = balanced(request, 2);
  expect_divided(partition, request);
  const auto table = class_table(partition, request);
  EXPECT_EQ(table[0], (std::vector<std::int64_t>{10, 6, 0}));
  EXPECT_EQ(table[1], table[0]);
  EXPECT_EQ(partition.notes.back(),
            "partition.balanced = 2: the first clients have 16 samples each, an equal share of "
            "every class; the scheme divides the rest");
}

TEST(Balanced, DrawsTheSharesFromAStreamOfTheirOwn) {
  const auto labels = labels_by_class({100, 100});
  const auto first = balanced(request_for(labels, 4, 0, 1), 1);
  EXPECT_EQ(balanced(request_for(labels, 4, 0, 1), 1, "iid").clients[0], first.clients[0]);
  EXPECT_EQ(balanced(request_for(labels, 4, 0, 1), 2).clients[0], first.clients[0]);
  EXPECT_NE(balanced(request_for(labels, 4, 0, 2), 1).clients[0], first.clients[0]);
  EXPECT_GT(first.clients[0].back() - first.clients[0].front(), 120);  // not the first ones
}

TEST(Balanced, OfNobodyIsTheScheme) {
  const auto labels = labels_by_class({100, 100});
  const auto request = request_for(labels, 4, 0);
  const auto partition = balanced(request, 0);
  EXPECT_EQ(partition.clients, draw(request, "dirichlet").clients);
  EXPECT_TRUE(partition.notes.empty());
}

TEST(Balanced, GoesWithEveryDrawnScheme) {
  const auto labels = labels_by_class({60, 60, 60});
  for (const char* scheme :
       {"dirichlet", "dirichlet-client", "iid", "shards", "classes", "quantity"}) {
    const auto request = request_for(labels, 6, 10);
    const auto partition = balanced(request, 3, scheme);
    expect_divided(partition, request);
    const auto table = class_table(partition, request);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(table[k], (std::vector<std::int64_t>{10, 10, 10})) << scheme;
    }
    for (const auto& client : partition.clients) EXPECT_GE(client.size(), 10u) << scheme;
  }
}

// The numbers are those that the person wrote, not those of the rest.
TEST(Balanced, RefusesAMinimumThatCannotExist) {
  const auto labels = labels_by_class({20, 20});
  EXPECT_EQ(message_of<OptionError>([&] { balanced(request_for(labels, 4, 11), 1); }),
            "partition.min_samples = 11 and partition.clients = 4 need 4 x 11 samples, but the "
            "clients have 40 to share; lower one of them");
}

// floor(6 / 4) + floor(6 / 4) = 2, where an iid client has 3.
TEST(Balanced, RefusesAShareBelowTheMinimum) {
  const auto labels = labels_by_class({6, 6});
  EXPECT_EQ(message_of<OptionError>([&] { balanced(request_for(labels, 4, 3), 1); }),
            "partition.balanced = 1: an equal share of every class for each of 4 clients is 2 "
            "samples, fewer than partition.min_samples = 3; lower the number of clients");
  EXPECT_NE(message_of<OptionError>([&] {
              balanced(request_for(labels, 10, 0), 1);
            }).find("is 0 samples, fewer than one"),
            std::string::npos);
}

TEST(Balanced, LeavesAClientToTheScheme) {
  const auto labels = labels_by_class({20, 20});
  const auto request = request_for(labels, 4, 0);
  expect_divided(balanced(request, 3), request);
  EXPECT_TRUE(message_of<OptionError>([&] {
                balanced(request, 4);
              }).starts_with("partition.balanced = 4 is out of bounds: of 4 clients at most 3"));
}

TEST(Balanced, IsRefusedWhereNothingIsDrawn) {
  const testing::TemporaryFolder folder;
  const auto labels = labels_by_class({20, 20});
  Table file, column;
  file.set("file", folder.write("p.json", std::string("[[0], [1]]")));
  column.set("column", std::string("who"));
  for (const auto& [scheme, options] : {std::pair("file", file), std::pair("natural", column)}) {
    EXPECT_TRUE(message_of<OptionError>([&] {
                  balanced(request_for(labels, 4, 0), 1, scheme, options);
                }).starts_with("partition.balanced = 1 makes clients of a drawn partition"))
        << scheme;
  }
}

}  // namespace
}  // namespace fedvg
