#include "data/partitions/testing.h"
#include "data/testing.h"

namespace fedvg {
namespace {

using testing::class_table;
using testing::draw;
using testing::expect_divided;
using testing::labels_by_class;
using testing::request_for;

// U26: 100 of class 0, then 100 of class 1, two clients: shuffled, so each has both (mean 50,
// deviation 3.5).
TEST(Iid, ShufflesFirst) {
  const auto labels = labels_by_class({100, 100});
  const auto request = request_for(labels, 2, 10);
  const auto partition = draw(request, "iid");
  expect_divided(partition, request);
  for (const auto& row : class_table(partition, request)) {
    EXPECT_EQ(row[0] + row[1], 100);
    EXPECT_GE(row[0], 35);
    EXPECT_LE(row[0], 65);
  }
}

// 11 = 3 + 3 + 3 + 2.
TEST(Iid, SizesDifferByAtMostOne) {
  const auto labels = labels_by_class({11});
  const auto partition = draw(request_for(labels, 4, 2), "iid");
  std::vector<std::size_t> sizes;
  for (const auto& client : partition.clients) sizes.push_back(client.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 3, 2}));
}

TEST(Iid, RepeatsByTheSeed) {
  const auto labels = labels_by_class({50});
  const auto first = draw(request_for(labels, 4, 0, 1), "iid");
  EXPECT_EQ(draw(request_for(labels, 4, 0, 1), "iid").clients, first.clients);
  EXPECT_NE(draw(request_for(labels, 4, 0, 2), "iid").clients, first.clients);
}

TEST(Iid, RefusesAMinimumThatCannotExist) {
  const auto labels = labels_by_class({11});
  EXPECT_THROW(draw(request_for(labels, 4, 3), "iid"), OptionError);
}

TEST(Iid, AllowsMoreClientsThanSamples) {
  const auto labels = labels_by_class({2});
  const auto request = request_for(labels, 5, 0);
  expect_divided(draw(request, "iid"), request);
}

}  // namespace
}  // namespace fedvg
