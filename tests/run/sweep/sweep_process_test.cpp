#include "run/sweep/sweep_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "engine/cores.h"
#include "fedvg/error.h"
#include "run/stop_signals.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::HasSubstr;

class SweepProcessTest : public ::testing::Test {
 protected:
  ProcessStart shell(const std::string& script) const {
    return {.program = "/bin/sh",
            .arguments = {"-c", script},
            .output = folder_.path() / "out.txt",
            .cores = {}};
  }
  static ProcessEnd wait(SweepProcess& process) {
    while (true) {
      if (const auto end = process.end()) return *end;
      ::usleep(1000);
    }
  }
  ProcessEnd run(const std::string& script) const {
    SweepProcess process(shell(script));
    return wait(process);
  }
  std::string output() const { return content_of(folder_.path() / "out.txt"); }
  // Once the process has said so.
  void await(const std::string& word) const {
    while (output().find(word) == std::string::npos) ::usleep(1000);
  }

  TestFolder folder_;
};

TEST_F(SweepProcessTest, HowItEnds) {
  EXPECT_EQ(run("exit 3").code, 3);
  EXPECT_EQ(run("kill -9 $$").signal, SIGKILL);
  EXPECT_EQ(run("true").code, 0);
}

TEST_F(SweepProcessTest, WhatItPrintsGoesToTheEndOfTheFileAndItReadsNothing) {
  run("echo one; echo two >&2; cat");
  run("echo three");
  EXPECT_EQ(output(), "one\ntwo\nthree\n");
}

TEST_F(SweepProcessTest, ArgumentsAreTakenAsTheyAre) {
  ProcessStart start = shell("printf '%s|' \"$@\"");
  start.arguments.insert(start.arguments.end(), {"zero", "a b", "$HOME;'\"*", ""});
  SweepProcess process(start);
  wait(process);
  EXPECT_EQ(output(), "a b|$HOME;'\"*||");
}

TEST_F(SweepProcessTest, ItHasAGroupOfItsOwnAndTheCoresThatItIsGiven) {
  ProcessStart start = shell("grep Cpus_allowed_list /proc/self/status");
  start.cores = {allowed_cores().back()};
  SweepProcess process(start);
  wait(process);
  EXPECT_THAT(output(), HasSubstr("Cpus_allowed_list:\t" + std::to_string(start.cores[0]) + "\n"));
  SweepProcess sleeper(shell("exec sleep 60"));
  EXPECT_EQ(::getpgid(sleeper.number()), sleeper.number());
}

TEST_F(SweepProcessTest, ItIsStoppedOnceByHangUp) {
  SweepProcess process(
      shell("n=0; trap 'n=$((n+1)); echo hup $n' HUP; trap 'exit 130' USR1; echo ready; "
            "while :; do sleep 0.01; done"));
  await("ready");
  EXPECT_FALSE(process.end().has_value());
  process.stop();
  await("hup 1");
  process.stop();
  ::kill(process.number(), SIGUSR1);
  EXPECT_EQ(wait(process).code, 130);
  EXPECT_THAT(output(), ::testing::Not(HasSubstr("hup 2")));
}

// What this process handles or ignores, it does not pass on; nor what it has blocked.
TEST_F(SweepProcessTest, SignalsAreAsUsualInIt) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const StopSignals signals;
  SweepProcess process(shell("exec sleep 60"));
  process.stop();
  EXPECT_EQ(wait(process).signal, SIGHUP);
  EXPECT_FALSE(signals.requested());
  std::signal(SIGHUP, before);
}

TEST_F(SweepProcessTest, ItEndsWithTheOneWhoStartedIt) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    const SweepProcess process(
        shell("trap 'echo told; exit' TERM; echo ready; while :; do sleep 0.01; done"));
    while (true) ::pause();
  }
  await("ready");
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  await("told");
}

TEST_F(SweepProcessTest, WhatCannotBeStarted) {
  ProcessStart start = shell("");
  start.program = folder_.path() / "none";
  SweepProcess process(start);
  EXPECT_EQ(wait(process).code, 127);
  EXPECT_THAT(output(), HasSubstr("cannot be started"));
  start.output = folder_.path() / "none/out.txt";
  EXPECT_THAT(message_of<RunError>([&] { const SweepProcess other(start); }),
              HasSubstr("none/out.txt"));
}

}  // namespace
}  // namespace fedvg
