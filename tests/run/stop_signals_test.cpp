#include "run/stop_signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace fedvg {
namespace {

TEST(StopSignals, TheFirstOneIsARequest) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, SIG_DFL);  // under nohup SIGHUP is ignored
    const StopSignals signals;
    EXPECT_FALSE(signals.requested());
    std::raise(signal);
    EXPECT_TRUE(signals.requested());
  }
}

TEST(StopSignalsDeathTest, TheSecondOneEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        const StopSignals signals;
        std::raise(SIGINT);
        std::raise(SIGTERM);
      },
      ::testing::ExitedWithCode(130), "stopped at once");
}

// A terminal that closes may send it twice: the model must still be saved.
TEST(StopSignals, ASecondHangUpIsNoSecondOne) {
  std::signal(SIGHUP, SIG_DFL);
  const StopSignals signals;
  std::raise(SIGHUP);
  std::raise(SIGHUP);
  EXPECT_TRUE(signals.requested());
}

TEST(StopSignals, AnIgnoredSignalStaysIgnoredAndHandlersComeBack) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  {
    const StopSignals signals;
    std::raise(SIGINT);
    EXPECT_FALSE(signals.requested());
  }
  EXPECT_EQ(std::signal(SIGINT, before), SIG_IGN);
}

}  // namespace
}  // namespace fedvg
