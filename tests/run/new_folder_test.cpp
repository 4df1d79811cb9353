#include "run/new_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

class NewFolder : public ::testing::Test {
 protected:
  /// Of both, which must agree.
  std::string refusal(const fs::path& path) {
    const auto check = [&] { check_can_be_made(path, "--out"); };
    const auto make = [&] { make_folder(path, "--out"); };
    const std::string message = message_of<RunError>(check);
    EXPECT_EQ(message_of<RunError>(make), message);
    return message;
  }

  TestFolder folder_;
  fs::path here_ = fs::canonical(folder_.path());
};

TEST_F(NewFolder, IsMadeWithThoseAboveIt) {
  check_can_be_made(here_ / "a/b", "--out");
  EXPECT_FALSE(fs::exists(here_ / "a"));
  make_folder(here_ / "a/b", "--out");
  EXPECT_TRUE(fs::is_directory(here_ / "a/b"));
  EXPECT_EQ(refusal(here_ / "a/b"), "nothing thrown") << "there already";
  EXPECT_EQ(refusal(here_ / "a/c/"), "nothing thrown");
  fs::create_directory_symlink("a", here_ / "link");
  EXPECT_EQ(refusal(here_ / "link/d"), "nothing thrown");
  EXPECT_TRUE(fs::is_directory(here_ / "a/d"));
}

TEST_F(NewFolder, AFileInTheWayIsNamed) {
  const fs::path file = folder_.file("file", "");
  EXPECT_EQ(refusal(here_ / "file"), (here_ / "file").string() +
                                         ": cannot be created: not a folder; name another "
                                         "folder with --out");
  EXPECT_EQ(reason_against(here_ / "file"), "cannot be created: not a folder");
  EXPECT_EQ(reason_against(here_ / "other"), "");
  EXPECT_EQ(refusal(here_ / "file/a/b"), (here_ / "file/a/b").string() +
                                             ": cannot be created: " + (here_ / "file").string() +
                                             ": not a folder; name another folder with --out");
}

TEST_F(NewFolder, ALinkToNowhereIsNamedWithWhereItLeads) {
  fs::create_symlink("away/disk", here_ / "link");
  const std::string reason =
      "a symbolic link to away/disk, where there is nothing: put that back, remove the link, or "
      "name another folder with --out";
  const std::string link = (here_ / "link").string();
  EXPECT_EQ(refusal(link), link + ": cannot be created: " + reason);
  EXPECT_EQ(refusal(link + "/"), link + "/: cannot be created: " + reason);
  EXPECT_EQ(refusal(link + "/a/b"), link + "/a/b: cannot be created: " + link + ": " + reason);
  EXPECT_FALSE(fs::exists(here_ / "away"));
}

TEST_F(NewFolder, WhatTheSystemRefusesIsSaid) {
  EXPECT_THAT(refusal(here_ / std::string(300, 'x')),
              ::testing::HasSubstr("cannot be created: File name too long; name another"));
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  fs::create_directory(here_ / "locked");
  fs::permissions(here_ / "locked", fs::perms::owner_read);
  EXPECT_THAT(refusal(here_ / "locked/a"), ::testing::HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace fedvg
