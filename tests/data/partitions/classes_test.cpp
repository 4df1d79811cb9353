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

Table each(std::int64_t classes) {
  Table options;
  options.set("classes_per_client", classes);
  return options;
}

// 20 clients x 3 classes of 10: each class has 6 holders with 60 / 6 samples.
TEST(ClassesPerClient, GivesExactlySoManyClassesEach) {
  const auto labels = labels_by_class(std::vector<std::int64_t>(10, 60));
  const auto request = request_for(labels, 20, 10);
  const auto partition = draw(request, "classes", each(3));
  expect_divided(partition, request);
  EXPECT_TRUE(partition.notes.empty());
  for (const auto& row : class_table(partition, request)) {
    EXPECT_EQ(held(row), 3);
    for (const std::int64_t count : row) EXPECT_TRUE(count == 0 || count == 10) << count;
  }
}

TEST(ClassesPerClient, AreTwoUnlessToldOtherwise) {
  const auto labels = labels_by_class({50, 50, 50, 50, 50});
  const auto request = request_for(labels, 5, 10);
  for (const auto& row : class_table(draw(request, "classes"), request)) EXPECT_EQ(held(row), 2);
}

// 7 clients x 2 = 14 over 3 classes: 5 + 5 + 4 holders. 23 samples of 5 holders are 5 5 5 4 4, of
// 4 they are 6 6 6 5.
TEST(ClassesPerClient, BalancesTheHoldersAndDealsEvenly) {
  const auto labels = labels_by_class({23, 23, 23});
  const auto request = request_for(labels, 7, 0);
  const auto partition = draw(request, "classes", each(2));
  expect_divided(partition, request);
  std::vector<std::vector<std::int64_t>> shares(3);
  for (const auto& row : class_table(partition, request)) {
    for (std::size_t c = 0; c < 3; ++c) {
      if (row[c] > 0) shares[c].push_back(row[c]);
    }
  }
  for (auto& share : shares) std::sort(share.rbegin(), share.rend());
  std::sort(shares.begin(), shares.end());
  EXPECT_EQ(shares, (std::vector<std::vector<std::int64_t>>{
                        {5, 5, 5, 4, 4}, {5, 5, 5, 4, 4}, {6, 6, 6, 5}}));
}

// Every class is taken as soon as there are places enough: 2 clients x 2 for 4 classes.
TEST(ClassesPerClient, TakesEveryClassWhenPossible) {
  const auto labels = labels_by_class({9, 9, 9, 9});
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto request = request_for(labels, 2, 0, seed);
    expect_divided(draw(request, "classes", each(2)), request);
  }
}

TEST(ClassesPerClient, SaysWhatNobodyTakes) {
  const auto labels = labels_by_class({9, 9, 9, 9, 9});
  const auto partition = draw(request_for(labels, 2, 0), "classes", each(2));
  EXPECT_EQ(partition.notes,
            (std::vector<std::string>{"too few clients to take every class: the 9 samples of 1 "
                                      "class go to nobody"}));
  EXPECT_EQ(partition.clients[0].size() + partition.clients[1].size(), 36u);
}

TEST(ClassesPerClient, SaysWhenAClassIsTooScarce) {
  const auto labels = labels_by_class({20, 2});
  const auto partition = draw(request_for(labels, 4, 0), "classes", each(2));
  ASSERT_EQ(partition.notes.size(), 1u);
  EXPECT_TRUE(partition.notes[0].starts_with("1 class with fewer samples than clients"))
      << partition.notes[0];
}

TEST(ClassesPerClient, DrawsPairsThatDiffer) {
  const auto labels = labels_by_class(std::vector<std::int64_t>(10, 100));
  const auto request = request_for(labels, 50, 0);
  auto table = class_table(draw(request, "classes", each(2)), request);
  for (auto& row : table) {
    for (auto& count : row) count = count > 0;
  }
  std::sort(table.begin(), table.end());
  table.erase(std::unique(table.begin(), table.end()), table.end());
  EXPECT_GT(table.size(), 15u);  // of 45 pairs
  const auto first = draw(request, "classes", each(2));
  EXPECT_EQ(draw(request, "classes", each(2)).clients, first.clients);
  EXPECT_NE(draw(request_for(labels, 50, 0, 2), "classes", each(2)).clients, first.clients);
}

// Class 1 has no sample: three classes are there.
TEST(ClassesPerClient, RefusesMoreClassesThanThereAre) {
  const auto labels = labels_by_class({9, 0, 9, 9});
  const auto request = request_for(labels, 2, 0);
  EXPECT_EQ(message_of<OptionError>([&] { draw(request, "classes", each(4)); }),
            "partition.classes_per_client = 4 is out of bounds: the clients have samples of 3 "
            "classes to share");
  expect_divided(draw(request, "classes", each(3)), request);
  EXPECT_THROW(draw(request, "classes", each(0)), OptionError);
}

}  // namespace
}  // namespace fedvg
