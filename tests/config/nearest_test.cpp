#include "config/nearest.h"

#include <gtest/gtest.h>

namespace fedvg::config {

const std::vector<std::string> kMethods = {"fedavg", "fedavgm", "fedprox", "fedvg", "scaffold"};

TEST(Nearest, FindsSlipsOfTheKeyboard) {
  EXPECT_EQ(nearest("lrr", {"lr", "clip"}), "lr");
  EXPECT_EQ(nearest("FedVGG", kMethods), "fedvg");
  EXPECT_EQ(nearest("scafolld", kMethods), "scaffold");
  EXPECT_EQ(nearest("momentmu", {"momentum"}), "momentum");
}

TEST(Nearest, CaseAndTheKindOfDashDoNotCount) {
  EXPECT_EQ(nearest("FEDPROX", kMethods), "fedprox");
  EXPECT_EQ(nearest("batch-size", {"batch_size"}), "batch_size");
}

// fed-avgm is one insertion from fedavgm and two changes from fedavg.
TEST(Nearest, PrefersTheSmallerDistance) { EXPECT_EQ(nearest("fed-avgm", kMethods), "fedavgm"); }

TEST(Nearest, TakesAnAbbreviation) {
  EXPECT_EQ(nearest("optim", {"batch_size", "optimizer"}), "optimizer");
}

TEST(Nearest, SaysNothingWhenNothingIsClose) {
  EXPECT_EQ(nearest("krum", kMethods), std::nullopt);
  EXPECT_EQ(nearest("x", {"y"}), std::nullopt);
  EXPECT_EQ(nearest("", kMethods), std::nullopt);
  EXPECT_EQ(nearest(std::string(100000, 'f'), kMethods), std::nullopt);
}

TEST(UnknownText, ListsTheCandidatesSortedAndOnce) {
  EXPECT_EQ(unknown_text("option", "lrr", "in [train]", {"lr", "clip", "lr"}),
            "unknown option 'lrr' in [train]; did you mean 'lr'? known: clip, lr");
  EXPECT_EQ(unknown_text("model", "x\ny", "", {}), "unknown model 'x\\ny'");
}

}  // namespace fedvg::config
