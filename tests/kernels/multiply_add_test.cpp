#include <gtest/gtest.h>

#include <vector>

#include "kernels/instruction_set.h"

namespace fedvg::kernels {
namespace {

// x becomes x/2 + 1/2 in each round: exact in float for these numbers.
TEST(MultiplyAdd, DoesAndCountsWhatItSays) {
  for (const auto& set : instruction_sets()) {
    SCOPED_TRACE(set);
    const KernelTable* table = kernels_of(set);
    if (!table) continue;
    std::vector<float> numbers(kMultiplyAddNumbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    const std::int64_t done = table->multiply_add(3, numbers.data());
    ASSERT_EQ(done % 3, 0);
    const auto worked_on = static_cast<std::size_t>(done / 3);
    EXPECT_EQ(worked_on % static_cast<std::size_t>(table->lanes), 0U);
    ASSERT_GT(worked_on, 0U);
    ASSERT_LE(worked_on, numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto x = static_cast<float>(i);
      EXPECT_EQ(numbers[i], i < worked_on ? x / 8 + 0.875F : x) << i;
    }
  }
}

}  // namespace
}  // namespace fedvg::kernels
