#include "data/minimum.h"

#include <numeric>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;
using Lists = std::vector<IndexList>;

// Labels of seven samples: 0 0 0 0 1 1 1.
const std::vector<std::int64_t> labels = {0, 0, 0, 0, 1, 1, 1};

PartitionRequest request(std::int64_t clients, std::int64_t min_samples) {
  PartitionRequest made{.labels = labels, .classes = 2, .available = IndexList(7)};
  std::iota(made.available.begin(), made.available.end(), std::int64_t{0});
  made.clients = clients;
  made.min_samples = min_samples;
  return made;
}

// Client 0 has six samples, 4 + 2. Client 1 lacks one: client 0 gives the last of class 0,
// sample 3. Client 2 lacks two: of client 0's five (3 + 2) it gets samples 2 and 1.
TEST(Minimum, RepairMovesTheCommonestClassOfTheLargestClient) {
  Lists clients = {{0, 1, 2, 3, 4, 5}, {6}, {}};
  const Repair done = repair(clients, labels, 2, 2);
  EXPECT_EQ(clients, (Lists{{0, 4, 5}, {6, 3}, {2, 1}}));
  EXPECT_EQ(done.moved, 3);
  EXPECT_EQ(done.receivers, 2);
}

// Client 1 lacks two. Client 0 has 4, one above the minimum, and may give one; client 2
// has 4 as well and gives the other: ties go to the first.
TEST(Minimum, RepairTakesHalfOfWhatAGiverHasTooMuch) {
  const std::vector<std::int64_t> one_class(9, 0);
  Lists clients = {{0, 1, 2, 3}, {4}, {5, 6, 7, 8}};
  repair(clients, one_class, 1, 3);
  EXPECT_EQ(clients, (Lists{{0, 1, 2}, {4, 3, 8}, {5, 6, 7}}));
}

TEST(Minimum, RepairReachesAMinimumWithoutSlack) {
  std::vector<std::int64_t> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i % 7);
  Lists clients(100);
  clients[41].resize(1000);
  std::iota(clients[41].begin(), clients[41].end(), std::int64_t{0});
  repair(clients, many, 7, 10);
  std::vector<int> uses(1000);
  for (const auto& client : clients) {
    EXPECT_EQ(client.size(), 10u);
    for (const std::int64_t index : client) ++uses[static_cast<std::size_t>(index)];
  }
  EXPECT_EQ(uses, std::vector<int>(1000, 1));
}

TEST(Minimum, TakesTheFirstDrawThatHolds) {
  int draws = 0;
  const Partition partition = draw_with_minimum(request(2, 3), "test", [&] {
    ++draws;
    return draws < 4 ? Lists{{0, 1}, {2, 3, 4, 5, 6}} : Lists{{6, 0, 3}, {1, 2, 4, 5}};
  });
  EXPECT_EQ(draws, 4);
  EXPECT_EQ(partition.clients, (Lists{{0, 3, 6}, {1, 2, 4, 5}}));
  EXPECT_TRUE(partition.notes.empty());
}

TEST(Minimum, RepairsAfterTwentyDrawsAndSaysSo) {
  int draws = 0;
  const Partition partition = draw_with_minimum(request(2, 3), "test", [&] {
    ++draws;
    return Lists{{0, 1}, {2, 3, 4, 5, 6}};
  });
  EXPECT_EQ(draws, 20);
  // The larger client has 2 of class 0 and 3 of class 1: sample 6 moves.
  EXPECT_EQ(partition.clients, (Lists{{0, 1, 6}, {2, 3, 4, 5}}));
  ASSERT_EQ(partition.notes.size(), 1u);
  EXPECT_EQ(partition.notes[0],
            "partition repaired: 1 samples moved from the largest clients to 1 that had fewer "
            "than min_samples = 3 after 20 draws (the smallest had 2)");
}

TEST(Minimum, RefusesAfterTwentyDrawsWhenTold) {
  PartitionRequest asked = request(2, 3);
  asked.refuse_short = true;
  const auto message = message_of<OptionError>([&] {
    draw_with_minimum(asked, "dirichlet, alpha = 0.1", [] {
      return Lists{{0}, {1, 2, 3, 4, 5, 6}};
    });
  });
  EXPECT_EQ(message,
            "partition.scheme = dirichlet, alpha = 0.1: 20 draws for 2 clients all left one below "
            "partition.min_samples = 3 (the smallest of the last has 1); set partition.on_short = "
            "\"repair\", or change one of these");
}

TEST(Minimum, RefusesTheImpossibleWithoutADraw) {
  const auto message = message_of<OptionError>([&] {
    draw_with_minimum(request(2, 4), "test", []() -> Lists {
      ADD_FAILURE() << "drawn";
      return {};
    });
  });
  EXPECT_EQ(message,
            "partition.min_samples = 4 and partition.clients = 2 need 2 x 4 samples, but the "
            "clients have 7 to share; lower one of them");
}

// What is wrong may be the share of D_val.
TEST(Minimum, SaysWhatIsHeldOut) {
  PartitionRequest little = request(2, 2);
  little.available.resize(3);
  EXPECT_EQ(message_of<OptionError>([&] { refuse_impossible(little); }),
            "partition.min_samples = 2 and partition.clients = 2 need 2 x 2 samples, but the "
            "clients have 3 to share beside the 4 that validation.ratio holds out; lower one of "
            "them");
}

TEST(Minimum, OfNothingAllowsMoreClientsThanSamples) {
  const auto partition =
      draw_with_minimum(request(9, 0), "test", [] { return Lists(9, IndexList{}); });
  EXPECT_EQ(partition.clients.size(), 9u);
}

}  // namespace
}  // namespace fedvg
