// Files that are whole or absent, also when the disk is full.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <optional>

#include "fedvg/error.h"
#include "full_disk.h"
#include "run/growing_file.h"
#include "run/log_file.h"
#include "run/testing.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

using ::testing::HasSubstr;

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(WholeFile, AppearsOnlyWhenCommitted) {
  const TestFolder folder;
  const auto path = folder.path() / "model";
  {
    WholeFile file(path);
    file.append("half");
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(files_in(folder.path()), 0U);
  write_whole_file(path, "whole");
  EXPECT_EQ(content_of(path), "whole");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WholeFile, AFullDiskLeavesTheFileThatWasThere) {
  const TestFolder folder;
  const auto path = folder.path() / "model";
  write_whole_file(path, "old");
  const DiskOf disk(10);
  const std::string message =
      message_of<RunError>([&] { write_whole_file(path, "longer than ten bytes"); });
  EXPECT_THAT(message, HasSubstr(path.string() + ": cannot be written: "));
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WholeFile, AFolderThatIsNotThereIsNamed) {
  const TestFolder folder;
  EXPECT_THAT(
      message_of<RunError>([&] { write_whole_file(folder.path() / "absent" / "model", ""); }),
      HasSubstr("absent/model: cannot be written: No such file"));
}

// Somebody's own file of that name is no leftover.
TEST(WholeFile, LeavesAFileAloneThatIsCalledLikeItsTemporary) {
  const TestFolder folder;
  const auto own = folder.file("model.part", "own");
  write_whole_file(folder.path() / "model", "whole");
  EXPECT_EQ(content_of(own), "own");
  EXPECT_EQ(content_of(folder.path() / "model"), "whole");
  EXPECT_EQ(files_in(folder.path()), 2U);
}

TEST(WholeFile, FollowsLinksAndLeavesThem) {
  const TestFolder folder;
  const auto target = folder.file("there/target", "old");
  const auto link = folder.path() / "link", chain = folder.path() / "chain",
             dangling = folder.path() / "dangling";
  std::filesystem::create_symlink("there/target", link);
  std::filesystem::create_symlink("link", chain);
  std::filesystem::create_symlink("there/none-yet", dangling);
  for (const auto& path : {link, chain}) {
    write_whole_file(path, path.filename().string());
    EXPECT_TRUE(std::filesystem::is_symlink(path));
    EXPECT_EQ(content_of(target), path.filename().string());
  }
  write_whole_file(dangling, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dangling));
  EXPECT_EQ(content_of(folder.path() / "there/none-yet"), "new");
  EXPECT_EQ(files_in(folder.path() / "there"), 2U);
}

TEST(WholeFile, WritesThroughAPipe) {
  const TestFolder folder;
  const auto path = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_whole_file(path, "through");
  char read[16] = {};
  EXPECT_EQ(::read(reader, read, sizeof read), 7);
  EXPECT_STREQ(read, "through");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WholeFile, RefusesAFolderAndLinksInACircle) {
  const TestFolder folder;
  EXPECT_THAT(message_of<RunError>([&] { write_whole_file(folder.path(), ""); }),
              HasSubstr("cannot be written: Is a directory"));
  std::filesystem::create_symlink("circle", folder.path() / "circle");
  EXPECT_THAT(message_of<RunError>([&] { write_whole_file(folder.path() / "circle", ""); }),
              HasSubstr("circle: cannot be written: Too many levels of symbolic links"));
}

TEST(GrowingFile, TakesBackAPieceThatDoesNotFit) {
  const TestFolder folder;
  GrowingFile file(folder.path() / "rounds.csv");
  file.append("1,0.5\n");
  {
    const DiskOf disk(10);
    EXPECT_THAT(message_of<RunError>([&] { file.append("2,0.75\n"); }),
                HasSubstr("rounds.csv: cannot be written: "));
  }
  EXPECT_EQ(content_of(folder.path() / "rounds.csv"), "1,0.5\n");
  file.append("2,0.8\n");
  EXPECT_EQ(content_of(folder.path() / "rounds.csv"), "1,0.5\n2,0.8\n");
}

TEST(GrowingFile, CanBeCutToAnEarlierSize) {
  const TestFolder folder;
  GrowingFile file(folder.path() / "clients.csv");
  file.append("kept\n");
  const FileBegin kept = file.content();
  file.append("dropped\n");
  file.cut_to(kept);
  EXPECT_EQ(content_of(folder.path() / "clients.csv"), "kept\n");
  file.append("new\n");
  EXPECT_EQ(file.content(), begin_of(folder.path() / "clients.csv", 100));
}

TEST(GrowingFile, DoesNotTakeOverAFileThatIsThere) {
  const TestFolder folder;
  const auto path = folder.file("rounds.csv", "of another run\n");
  EXPECT_THROW(GrowingFile{path}, RunError);
  EXPECT_EQ(content_of(path), "of another run\n");
}

TEST(GrowingFile, GoesOnBehindWhatCounts) {
  const TestFolder folder;
  const auto path = folder.file("rounds.csv", "header\n1\n2\n3, not wh");
  {
    GrowingFile file(path, begin_of(path, 11));
    EXPECT_EQ(file.content().size, 11);
    EXPECT_EQ(content_of(path), "header\n1\n2\n");
    file.append("3\n");
    EXPECT_EQ(content_of(path), "header\n1\n2\n3\n");
    EXPECT_EQ(file.content(), begin_of(path, 13));
    file.cut_to(begin_of(path, 9));
    EXPECT_EQ(content_of(path), "header\n1\n");
    const DiskOf disk(10);
    EXPECT_THROW(file.append("too long\n"), RunError);
    EXPECT_EQ(content_of(path), "header\n1\n");
    EXPECT_EQ(file.content(), begin_of(path, 9)) << "what was taken back does not count";
  }
  GrowingFile whole(path, begin_of(path, 9));
  whole.append("2\n");
  EXPECT_EQ(content_of(path), "header\n1\n2\n");
  GrowingFile nothing(path, FileBegin());
  EXPECT_EQ(content_of(path), "");
}

TEST(GrowingFile, DoesNotGoOnInOneThatIsTooShortOrNotThere) {
  const TestFolder folder;
  const auto path = folder.file("rounds.csv", "header\n");
  EXPECT_THAT(message_of<RunError>([&] { GrowingFile(path, FileBegin{.size = 8}); }),
              HasSubstr(path.string() + ": shorter than the checkpoint says"));
  EXPECT_EQ(content_of(path), "header\n");
  const auto absent = folder.path() / "absent.csv";
  EXPECT_THAT(message_of<RunError>([&] { GrowingFile(absent, FileBegin()); }),
              HasSubstr("absent.csv: cannot be written: No such file"));
  EXPECT_FALSE(std::filesystem::exists(absent));
}

TEST(FileBegin, KnowsBytesAgainHoweverTheyCame) {
  const TestFolder folder;
  const std::string text = "header\n" + std::string(200000, 'x') + "\n";
  const auto path = folder.file("rounds.csv", text);
  FileBegin pieces, other;
  for (std::size_t at = 0; at < text.size(); at += 777) pieces.add(text.substr(at, 777));
  EXPECT_EQ(pieces, begin_of(path, std::ssize(text)));
  EXPECT_EQ(begin_of(path, std::ssize(text) + 1), pieces) << "no more than there is";
  EXPECT_EQ(begin_of(path, 0), FileBegin());
  other.add("header\n");
  EXPECT_EQ(begin_of(path, 7), other);
  EXPECT_NE(begin_of(path, 6), other);
}

TEST(FileBegin, AnyByteThatChangesIsSeen) {
  const TestFolder folder;
  const std::string text = "round,accuracy\n1,0.5\n2,0.75\n";
  FileBegin whole;
  whole.add(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_NE(begin_of(folder.file("rounds.csv", damaged), std::ssize(text)), whole) << at;
  }
  EXPECT_THAT(message_of<DataError>([&] { begin_of(folder.path() / "absent.csv", 1); }),
              HasSubstr("absent.csv: cannot be read"));
}

TEST(LogFile, HasTimeAndLevelAndTakesNoMessageForAFormat) {
  const TestFolder folder;
  LogFile log(folder.path() / "log.txt");
  log.info("100 clients {}");
  log.warning("client 3 rejected");
  EXPECT_THAT(
      content_of(folder.path() / "log.txt"),
      ::testing::MatchesRegex("....-..-..T..:..:..\\....[+]00:00 info    100 clients \\{\\}\n"
                              "....-..-..T..:..:..\\....[+]00:00 warning client 3 rejected\n"));
}

// As Asia/Tokyo, which not every machine has files about.
TEST(LogFile, TimeIsUtcWhereverTheMachineIs) {
  const char* set = std::getenv("TZ");
  const std::optional<std::string> before = set ? std::optional<std::string>(set) : std::nullopt;
  ::setenv("TZ", "JST-9", 1);
  ::tzset();
  const TestFolder folder;
  LogFile(folder.path() / "log.txt").info("here");
  const auto now = static_cast<double>(std::time(nullptr));
  before ? ::setenv("TZ", before->c_str(), 1) : ::unsetenv("TZ");
  ::tzset();
  const std::string line = content_of(folder.path() / "log.txt");
  std::tm time = {};
  ASSERT_NE(::strptime(line.c_str(), "%Y-%m-%dT%H:%M:%S", &time), nullptr) << line;
  EXPECT_NEAR(static_cast<double>(::timegm(&time)), now, 3600) << "nine hours are a time zone";
}

TEST(LogFile, GoesOnAtTheEndOfOneThatIsThere) {
  const TestFolder folder;
  const auto path = folder.file("log.txt", "what was before\n");
  LogFile(path).info("one");
  LogFile(path).info("two");
  EXPECT_THAT(content_of(path),
              ::testing::MatchesRegex("what was before\n.* info    one\n.* info    two\n"));
}

TEST(LogFile, AFullDiskIsAnErrorThatNamesIt) {
  const TestFolder folder;
  LogFile log(folder.path() / "log.txt");
  const DiskOf disk(20);
  EXPECT_THAT(message_of<RunError>([&] { log.info("a message"); }),
              HasSubstr("log.txt: cannot be written: "));
}

}  // namespace
}  // namespace fedvg
