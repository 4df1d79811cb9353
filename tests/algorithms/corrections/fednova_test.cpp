#include <gtest/gtest.h>

#include "algorithms/corrections/testing.h"

namespace fedvg {
namespace {

using namespace testing;

/// Two clients' receipts with the paths they walked.
struct Cohort {
  Layout layout = layout_of_sizes({1, 1});
  at::Tensor w = at::zeros({layout.size()}, at::kDouble);
  std::unique_ptr<Correction> fednova = correction("fednova");
  std::vector<Receipt> receipts;

  explicit Cohort(const std::vector<double>& paths) {
    for (const double path : paths) {
      ClientUpdate update{.samples = 1, .steps = 1, .path = path};
      receipts.push_back({.factor = fednova->factor(update)});
    }
  }
  Column columns(const std::vector<Column>& weights) const {
    return fednova->columns({1, 10, w, layout, receipts}, weights);
  }
};

// a = 1 and 3, W = 1/4 and 3/4: factors 1 and 1/3, in the end times 1/4 + 9/4 = 2.5. Deltas
// 1 and 6 give (1/4 * 1 + 3/4 * 6/3) * 2.5 = 4.375, where FedAvg gives 4.75.
TEST(FedNova, NormalisesByTheLocalPath) {
  const Cohort cohort({1, 3});
  EXPECT_DOUBLE_EQ(cohort.receipts[0].factor[0], 1);
  EXPECT_DOUBLE_EQ(cohort.receipts[1].factor[0], 1.0 / 3);
  const double columns = cohort.columns({{0.25}, {0.75}})[0];
  EXPECT_DOUBLE_EQ(columns, 2.5);
  const double mean =
      0.25 * cohort.receipts[0].factor[0] * 1 + 0.75 * cohort.receipts[1].factor[0] * 6;
  EXPECT_DOUBLE_EQ(mean * columns, 4.375);
}

// Equal paths cancel: FedAvg.
TEST(FedNova, WithEqualPathsIsFedAvg) {
  const Cohort cohort({4, 4});
  EXPECT_DOUBLE_EQ(cohort.columns({{0.3}, {0.7}})[0] * cohort.receipts[0].factor[0], 1);
}

// Weights by tensor: 1/2, 1/2 and 0, 1 give 2 and 3.
TEST(FedNova, TakesWeightsByTensor) {
  const Cohort cohort({1, 3});
  EXPECT_EQ(cohort.columns({{0.5, 0.0}, {0.5, 1.0}}), (Column{2, 3}));
  EXPECT_EQ(cohort.columns({{0.5}, {0.5, 1.0}}), (Column{2, 3.5}));
}

TEST(FedNova, NeedsWeightsAndAPathThatIsKnown) {
  const auto fednova = correction("fednova");
  EXPECT_TRUE(fednova->needs_weights());
  for (const char* name : {"adam", "adamw"}) {
    EXPECT_THROW(fednova->check(*local_optimizer(name), false), OptionError);
  }
  const auto momentum = local_optimizer("sgd", {{"momentum", 0.5}});
  EXPECT_NO_THROW(fednova->check(*momentum, false));
  EXPECT_THROW(fednova->check(*momentum, true), OptionError);
}

}  // namespace
}  // namespace fedvg
