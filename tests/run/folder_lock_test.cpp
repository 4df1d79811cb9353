#include "run/folder_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FolderLockTest : public ::testing::Test {
 protected:
  std::string refusal() {
    return message_of<RunError>([&] { const FolderLock second(folder_.path()); });
  }

  TestFolder folder_;
};

TEST_F(FolderLockTest, OneAtATimeAndNothingIsLeft) {
  {
    const FolderLock lock(folder_.path());
    EXPECT_TRUE(FolderLock::taken(folder_.path()));
    EXPECT_THAT(refusal(), AllOf(StartsWith(folder_.path().string() + ": another process (pid " +
                                            std::to_string(::getpid()) + ") works in this folder"),
                                 HasSubstr("wait")));
    EXPECT_TRUE(FolderLock::taken(folder_.path())) << "a refused one must not remove it";
  }
  EXPECT_FALSE(FolderLock::taken(folder_.path()));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_EQ(refusal(), "nothing thrown");
}

TEST_F(FolderLockTest, ADeadProcessKeepsNothing) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder_.path());
    [[maybe_unused]] const auto told = ::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THAT(refusal(), HasSubstr("(pid " + std::to_string(child) + ")"));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / ".lock"));
  EXPECT_FALSE(FolderLock::taken(folder_.path()));
  EXPECT_EQ(refusal(), "nothing thrown");
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(FolderLockTest, AProgramThatWasStartedDoesNotKeepIt) {
  std::optional<FolderLock> lock;
  lock.emplace(folder_.path());
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sleep", "sleep", "60", nullptr);
    ::_exit(127);
  }
  const auto program = "/proc/" + std::to_string(child) + "/exe";
  const auto here = std::filesystem::read_symlink("/proc/self/exe");
  while (std::filesystem::read_symlink(program) == here) ::usleep(1000);
  lock.reset();
  EXPECT_EQ(refusal(), "nothing thrown");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(FolderLockTest, AFolderThatIsNotThere) {
  const auto nowhere = folder_.path() / "nowhere";
  EXPECT_THAT(message_of<RunError>([&] { const FolderLock lock(nowhere); }),
              AllOf(HasSubstr(nowhere.string()), HasSubstr("No such file")));
  EXPECT_FALSE(FolderLock::taken(nowhere));
}

}  // namespace
}  // namespace fedvg
