#include "data/zip_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "data/arrays_testing.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::message_of;
using testing::NamedBytes;
using testing::TemporaryFolder;
using testing::write_zip;

std::string refusal(const std::string& path) {
  return message_of<DataError>([&] { check_zip(path); });
}

Bytes bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const NamedBytes two_members = {{"first", Bytes(300, 7)}, {"second", {'w', 'e', 'i', 'g', 'h'}}};

TEST(ZipCheck, AcceptsAWholeArchive) {
  for (const bool deflated : {true, false}) {
    const TemporaryFolder folder;
    EXPECT_NO_THROW(check_zip(write_zip(folder, "whole.zip", two_members, deflated)));
  }
}

TEST(ZipCheck, NamesTheMemberWhoseBytesDiffer) {
  const TemporaryFolder folder;
  const std::string path = write_zip(folder, "set.zip", two_members, /*deflated=*/false);
  Bytes bytes = bytes_of(path);
  const std::string content = "weigh";
  const auto found = std::search(bytes.begin(), bytes.end(), content.begin(), content.end());
  ASSERT_NE(found, bytes.end());
  *found ^= 1;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const std::string message = refusal(path);
  EXPECT_NE(message.find(path + " is damaged in second ("), std::string::npos) << message;
  EXPECT_NE(message.find("CRC"), std::string::npos) << message;
}

TEST(ZipCheck, LeavesOtherFilesToTheirReaders) {
  const TemporaryFolder folder;
  EXPECT_NO_THROW(check_zip(folder.path() / "absent"));
  std::ofstream(folder.path() / "text") << "no archive";
  EXPECT_NO_THROW(check_zip(folder.path() / "text"));
}

}  // namespace
}  // namespace fedvg
