#include "data/cohorts.h"

#include <algorithm>
#include <set>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;
using testing::TemporaryFolder;
using Sizes = std::vector<std::int64_t>;

Sizes clients(std::size_t number) { return Sizes(number, 5); }

// Of 10 clients: 0.04 is 0.4, at least one; 0.35 is 3.5, rounded down; 0.3 is
// 2.9999999999999996 in floating point, and meant as 3.
TEST(Cohorts, HaveTheShareRoundedDownButAtLeastOne) {
  for (const auto& [share, wanted] :
       {std::pair{0.04, 1}, {0.1, 1}, {0.3, 3}, {0.35, 3}, {0.99, 9}, {1.0, 10}}) {
    const Cohorts cohorts({.participation = share}, clients(10), 1);
    EXPECT_EQ(cohorts.participants(), wanted) << share;
    for (std::int64_t round = 1; round <= 20; ++round) {
      const IndexList cohort = cohorts.cohort(round);
      EXPECT_EQ(std::ssize(cohort), wanted);
      EXPECT_EQ(std::ssize(std::set(cohort.begin(), cohort.end())), wanted);
      EXPECT_TRUE(std::is_sorted(cohort.begin(), cohort.end()));
      EXPECT_GE(cohort.front(), 0);
      EXPECT_LT(cohort.back(), 10);
    }
  }
}

TEST(Cohorts, HaveTheNumberThatIsAskedFor) {
  EXPECT_EQ(std::ssize(Cohorts({.participants = 7}, clients(10), 1).cohort(1)), 7);
  EXPECT_EQ(std::ssize(Cohorts({.participants = 10}, clients(10), 1).cohort(1)), 10);
}

TEST(Cohorts, RefuseImpossibleNumbers) {
  const auto refusal = [](const CohortOptions& options) {
    return message_of<OptionError>([&] { Cohorts(options, clients(10), 1); });
  };
  EXPECT_EQ(refusal({.participants = 11}),
            "train.participants = 11 is out of bounds: there are 10 clients");
  EXPECT_NE(refusal({.participants = -1}).find("train.participants = -1"), std::string::npos);
  EXPECT_NE(refusal({.participation = 0}).find("must be in (0, 1]"), std::string::npos);
  EXPECT_NE(refusal({.participation = 1.1}).find("must be in (0, 1]"), std::string::npos);
  EXPECT_NE(refusal({.participation = -0.1}).find("must be in (0, 1]"), std::string::npos);
}

TEST(Cohorts, DependOnSeedAndRoundAlone) {
  const Cohorts cohorts({}, clients(100), 1), again({}, clients(100), 1),
      other({}, clients(100), 2);
  EXPECT_EQ(cohorts.cohort(7), again.cohort(7));
  EXPECT_EQ(cohorts.cohort(1), again.cohort(1));
  EXPECT_NE(cohorts.cohort(1), cohorts.cohort(2));
  EXPECT_NE(cohorts.cohort(1), other.cohort(1));
}

// 3 of 10, 20,000 rounds: each client 6000 times (deviation 65).
TEST(Cohorts, DrawEveryClientEquallyOften) {
  const Cohorts cohorts({.participants = 3}, clients(10), 1);
  std::vector<int> hits(10);
  for (std::int64_t round = 1; round <= 20'000; ++round) {
    for (const std::int64_t client : cohorts.cohort(round))
      ++hits[static_cast<std::size_t>(client)];
  }
  for (const int hit : hits) EXPECT_NEAR(hit, 6000, 350);
}

TEST(Cohorts, NeverDrawAnEmptyClient) {
  const Sizes sizes = {0, 3, 0, 1, 2};
  const Cohorts cohorts({.participation = 0.5}, sizes, 1);  // 2 of 5, three have samples
  std::set<std::int64_t> seen;
  for (std::int64_t round = 1; round <= 100; ++round) {
    for (const std::int64_t client : cohorts.cohort(round)) seen.insert(client);
  }
  EXPECT_EQ(seen, (std::set<std::int64_t>{1, 3, 4}));
  EXPECT_TRUE(cohorts.notes().empty());
}

TEST(Cohorts, FallToTheClientsThatHaveSamples) {
  const Cohorts cohorts({.participation = 1}, Sizes{0, 3, 0, 1, 2}, 1);
  EXPECT_EQ(cohorts.participants(), 3);
  EXPECT_EQ(cohorts.cohort(1), (IndexList{1, 3, 4}));
  EXPECT_EQ(cohorts.notes(),
            (std::vector<std::string>{"only 3 of 5 clients have samples: they all take part in "
                                      "every round, instead of 5"}));
  EXPECT_THROW(Cohorts({}, Sizes{0, 0}, 1), DataError);
  EXPECT_THROW(Cohorts({}, Sizes{}, 1), DataError);
}

TEST(Cohorts, OfAFileRepeatWhenShort) {
  const TemporaryFolder folder;
  const auto path = folder.write("c.json", std::string("[[3, 1], [0, 2, 4]]"));
  const Cohorts cohorts({.cohorts = path}, clients(5), 1);
  EXPECT_EQ(cohorts.cohort(1), (IndexList{3, 1}));
  EXPECT_EQ(cohorts.cohort(2), (IndexList{0, 2, 4}));
  EXPECT_EQ(cohorts.cohort(3), (IndexList{3, 1}));
  EXPECT_EQ(cohorts.participants(), 3);
  ASSERT_EQ(cohorts.notes().size(), 1u);
  EXPECT_NE(cohorts.notes()[0].find("do not apply"), std::string::npos);
}

TEST(Cohorts, OfAFileLeaveEmptyClientsOutAndSaySo) {
  const TemporaryFolder folder;
  const auto path = folder.write("c.json", std::string("[[2, 1], [0, 1]]"));
  const Cohorts cohorts({.cohorts = path}, Sizes{4, 0, 4}, 1);
  EXPECT_EQ(cohorts.cohort(1), (IndexList{2}));
  EXPECT_EQ(cohorts.cohort(2), (IndexList{0}));
  ASSERT_EQ(cohorts.notes().size(), 2u);
  EXPECT_EQ(cohorts.notes()[1], path + " names clients without samples 2 times: they are left out");
}

TEST(Cohorts, RefuseAFileThatDoesNotFit) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& content) {
    const auto path = folder.write("c.json", content);
    const auto message = message_of<DataError>([&] {
      Cohorts({.cohorts = path}, Sizes{4, 0, 4}, 1);
    });
    return message.substr(std::min(path.size(), message.size()));
  };
  EXPECT_EQ(refusal("[[0], [3]]"),
            ": round 2, position 0: client 3 does not exist: there are 3, counted from 0");
  EXPECT_EQ(refusal("[[0, 2, 0]]"), ": round 1, position 2: client 0 is already in this list");
  EXPECT_EQ(refusal("[]"), " has no rounds");
  EXPECT_EQ(refusal("[[0], [1]]"), ": round 2 has no client with samples");
  EXPECT_EQ(refusal("[[]]"), ": round 1 has no client with samples");
  EXPECT_NE(refusal("[[0]").find("is not JSON"), std::string::npos);
}

}  // namespace
}  // namespace fedvg
