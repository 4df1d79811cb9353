#include "engine/cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Cores, AreThoseThatAreAllowed) {
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const auto all = allowed_cores();
  ASSERT_THAT(all, Not(IsEmpty()));
  EXPECT_EQ(std::ssize(all), CPU_COUNT(&before));
  CPU_ZERO(&one);
  CPU_SET(all.back(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_THAT(allowed_cores(), ElementsAre(all.back()));
  ::sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace fedvg
