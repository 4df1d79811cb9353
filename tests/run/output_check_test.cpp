#include "run/output_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::HasSubstr;

class OutputCheck : public ::testing::Test {
 protected:
  std::string refusal(const std::filesystem::path& output) const {
    return message_of<OptionError>([&] { check_output("--output", output, inputs_); });
  }

  TestFolder folder_;
  std::filesystem::path input_ = folder_.file("data/p.json", "[[0]]");
  std::vector<InputPath> inputs_ = {{"partition.file", input_},
                                    {"data.path", folder_.path() / "data"},
                                    {"model.init", folder_.path() / "absent"}};
};

TEST_F(OutputCheck, RefusesAnInputUnderAnyName) {
  std::filesystem::create_symlink("data/p.json", folder_.path() / "link");
  std::filesystem::create_hard_link(input_, folder_.path() / "hard");
  for (const auto& name : {"data/p.json", "data/../data/./p.json", "link", "hard"}) {
    const std::string path = (folder_.path() / name).string();
    EXPECT_EQ(refusal(path), "--output " + path +
                                 ": this is the file that is read as partition.file; name another "
                                 "file, nothing was written");
  }
  EXPECT_EQ(content_of(input_), "[[0]]");
}

TEST_F(OutputCheck, RefusesAFileOfAFolderThatIsRead) {
  const auto image = folder_.file("data/train/cat/1.png", "");
  EXPECT_THAT(refusal(image), HasSubstr("a file of the folder that is read as data.path"));
  EXPECT_EQ(refusal(folder_.file("data/mine.csv", "of the last time")), "nothing thrown");
  EXPECT_EQ(refusal(folder_.file("beside.png", "")), "nothing thrown");
}

TEST_F(OutputCheck, RefusesAFolderAndNothing) {
  EXPECT_THAT(refusal(folder_.path()), HasSubstr("this is a folder"));
  EXPECT_EQ(refusal(""), "--output: wanted the name of a file, got nothing");
}

TEST_F(OutputCheck, TakesWhatIsNotThere) {
  EXPECT_EQ(refusal(folder_.path() / "absent"), "nothing thrown");
  EXPECT_EQ(refusal(folder_.path() / "data" / "new.bin"), "nothing thrown");
}

TEST_F(OutputCheck, FindsThePathsOfEverySection) {
  const auto file = folder_.file(
      "a.toml",
      "[data]\nname = \"csv\"\npath = \"/d/a.csv\"\n[partition]\nscheme = \"file\"\nfile = "
      "\"/d/p.json\"\n[train]\ncohorts = \"/d/c.json\"\n[model]\ninit = \"/d/m.safetensors\"\n");
  std::vector<std::string> found;
  for (const InputPath& input : input_paths(load_configuration(file))) {
    found.push_back(input.name + " " + input.path.string());
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAre(
                         "data.path /d/a.csv", "partition.file /d/p.json",
                         "train.cohorts /d/c.json", "model.init /d/m.safetensors"));
}

}  // namespace
}  // namespace fedvg
