#include "data/cifar_classes.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

namespace fedvg {
namespace {

TEST(CifarClasses, AreTheOfficialOnes) {
  EXPECT_EQ(official_cifar_classes(CifarLayout::cifar10, CifarLabels::fine).size(), 10u);
  for (const auto& [kind, number] :
       {std::pair(CifarLabels::fine, 100u), std::pair(CifarLabels::coarse, 20u)}) {
    const auto names = official_cifar_classes(CifarLayout::cifar100, kind);
    EXPECT_EQ(names.size(), number);
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  }
}

}  // namespace
}  // namespace fedvg
