#include "run/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace fedvg {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Console, WithoutATerminalThereIsNoBarAndNoStyle) {
  std::ostringstream results, messages;
  Console console(results, messages, {});
  console.show_progress("round 1", 1, 2);
  console.print(console.bold("0.5"));
  console.warn("client 3 rejected");
  EXPECT_EQ(results.str(), "0.5\n");
  EXPECT_EQ(messages.str(), "fedvg: warning: client 3 rejected\n");
}

TEST(Console, TheBarIsErasedBeforeAnythingElseIsPrinted) {
  std::ostringstream both;
  Console console(both, both, {.styled_results = true, .bar = true});
  console.show_progress("round 1", 1, 2);
  console.print(console.bold("a") + console.underlined("b"));
  EXPECT_EQ(both.str(),
            "\r\x1b[Kround 1 [###############...............] 1/2"
            "\r\x1b[K\x1b[1ma\x1b[0m\x1b[4mb\x1b[0m\n");
}

TEST(Console, RedrawsNoMoreOftenThanAPersonCanSee) {
  std::ostringstream results, messages;
  Console console(results, messages, {.bar = true});
  for (int done = 0; done <= 1000; ++done) console.show_progress("round 1", done, 1000);
  EXPECT_THAT(messages.str(), HasSubstr("] 0/1000"));
  EXPECT_THAT(messages.str(), Not(HasSubstr("] 1/1000")));
  EXPECT_THAT(messages.str(), HasSubstr("] 1000/1000"));
}

}  // namespace
}  // namespace fedvg
