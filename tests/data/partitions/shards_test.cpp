#include <algorithm>

#include "data/partitions/testing.h"
#include "data/testing.h"

namespace fedvg {
namespace {

using testing::class_table;
using testing::draw;
using testing::expect_divided;
using testing::held;
using testing::labels_by_class;
using testing::message_of;
using testing::request_for;

Table each(std::int64_t shards) {
  Table options;
  options.set("shards_per_client", shards);
  return options;
}

// 20 shards of 30 samples; a class of 60 is exactly two of them.
TEST(Shards, GiveEveryClientTwoShardsOfOneClassEach) {
  const auto labels = labels_by_class(std::vector<std::int64_t>(10, 60));
  const auto request = request_for(labels, 10, 10);
  const auto partition = draw(request, "shards");
  expect_divided(partition, request);
  for (const auto& row : class_table(partition, request)) {
    EXPECT_LE(held(row), 2);
    for (const std::int64_t count : row) EXPECT_EQ(count % 30, 0) << count;
  }
}

// 11 samples in 4 shards: up to floor(11 s / 4) = 2, 5, 8, 11.
TEST(Shards, DifferByAtMostOne) {
  const auto labels = labels_by_class({11});
  const auto request = request_for(labels, 4, 0);
  const auto partition = draw(request, "shards", each(1));
  expect_divided(partition, request);
  std::vector<std::size_t> sizes;
  for (const auto& client : partition.clients) sizes.push_back(client.size());
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 3, 3, 3}));
}

// Labels in turn: it is the labels that are sorted, not the positions.
TEST(Shards, SortByLabel) {
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 40; ++i) labels.push_back(i % 4);
  const auto request = request_for(labels, 4, 0);
  for (const auto& row : class_table(draw(request, "shards", each(1)), request)) {
    EXPECT_EQ(*std::max_element(row.begin(), row.end()), 10);
  }
}

TEST(Shards, RepeatByTheSeed) {
  const auto labels = labels_by_class({50, 50});
  const auto first = draw(request_for(labels, 5, 0, 1), "shards");
  EXPECT_EQ(draw(request_for(labels, 5, 0, 1), "shards").clients, first.clients);
  EXPECT_NE(draw(request_for(labels, 5, 0, 2), "shards").clients, first.clients);
}

TEST(Shards, RefuseToBeMoreThanTheSamples) {
  const auto labels = labels_by_class({5, 4});
  EXPECT_EQ(message_of<OptionError>([&] { draw(request_for(labels, 5, 0), "shards", each(2)); }),
            "partition.shards_per_client = 2 for 5 clients makes 10 shards, but the clients have 9 "
            "samples to share; lower one of them");
  const auto request = request_for(labels, 3, 0);
  expect_divided(draw(request, "shards", each(3)), request);
}

}  // namespace
}  // namespace fedvg
