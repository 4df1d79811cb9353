#include "run/run_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

TEST(RunEnd, ComesBackAsWritten) {
  const TestFolder folder;
  EXPECT_EQ(run_end_file(folder.path()), folder.path() / "run.json");
  for (const bool early : {false, true}) {
    folder.file("run.json", text_of(RunEnd{12, early}));
    const auto end = read_run_end(folder.path());
    ASSERT_TRUE(end);
    EXPECT_EQ(end->rounds, 12);
    EXPECT_EQ(end->early, early);
  }
}

TEST(RunEnd, SaysInWordsHowItEnded) {
  EXPECT_EQ(text_of(RunEnd{50, false}),
            "{\n  \"finished\": true,\n  \"rounds\": 50,\n  \"stopped\": \"all rounds\"\n}\n");
  EXPECT_EQ(text_of(RunEnd{7, true}),
            "{\n  \"finished\": true,\n  \"rounds\": 7,\n  \"stopped\": \"early\"\n}\n");
}

TEST(RunEnd, IsAbsentBeforeTheEnd) {
  const TestFolder folder;
  EXPECT_FALSE(read_run_end(folder.path()));
  EXPECT_FALSE(read_run_end(folder.path() / "nowhere"));
  folder.file("run.json", "{\"finished\": false}");
  EXPECT_FALSE(read_run_end(folder.path()));
}

TEST(RunEnd, ThatIsDamagedIsRefusedByName) {
  const TestFolder folder;
  for (const char* text : {"", "{", "[]", "3", "{}", "{\"finished\": 1}", "{\"finished\": true}",
                           "{\"finished\": true, \"rounds\": \"3\", \"stopped\": \"early\"}",
                           "{\"finished\": true, \"rounds\": 3, \"stopped\": true}"}) {
    const auto path = folder.file("run.json", text);
    const std::string message = message_of<DataError>([&] { read_run_end(folder.path()); });
    EXPECT_THAT(message, ::testing::HasSubstr(path.string() + ": damaged")) << text;
    EXPECT_THAT(message, ::testing::HasSubstr("--resume"));
  }
}

TEST(RunEnd, HasEndedWithAllThatARunLeaves) {
  const TestFolder folder;
  EXPECT_FALSE(has_ended(folder.path(), 3));
  folder.file("run.json", text_of(RunEnd{3, false}));
  EXPECT_FALSE(has_ended(folder.path(), 3));
  folder.file("rounds.csv", "round\n");
  EXPECT_FALSE(has_ended(folder.path(), 3));
  folder.file("model.safetensors", "");
  EXPECT_TRUE(has_ended(folder.path(), 3));
  EXPECT_FALSE(has_ended(folder.path(), 4)) << "it has 3 rounds";
  EXPECT_FALSE(has_ended(folder.path(), 2));
  folder.file("run.json", text_of(RunEnd{3, /*early=*/true}));
  EXPECT_TRUE(has_ended(folder.path(), 4));
  EXPECT_FALSE(has_ended(folder.path(), 2));
  folder.file("run.json", "{");
  EXPECT_THROW(has_ended(folder.path(), 3), DataError);
}

}  // namespace
}  // namespace fedvg
