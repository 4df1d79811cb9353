#include "run/comparison/named_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/comparison/made_up_runs.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NamedRuns : public MadeUpRuns {
 protected:
  NamedRuns() {
    folder_.file("s/sweep.toml", "base = \"a.toml\"\n");
    for (const char* name : {"c", "a", "b"}) {
      folder_.file(std::string("s/") + name + "/config.toml", "");
    }
    folder_.file("s/cache/notes.txt", "");
  }

  std::vector<std::string> named(const std::vector<std::string>& folders) {
    std::vector<std::filesystem::path> paths;
    for (const auto& folder : folders) paths.push_back(folder_.path() / folder);
    notes.clear();
    std::vector<std::string> names;
    for (const auto& run : named_runs(paths, notes)) {
      names.push_back(run.lexically_relative(folder_.path()).string());
    }
    return names;
  }

  std::vector<std::string> notes;
};

TEST_F(NamedRuns, ASweepStandsForTheRunsInIt) {
  EXPECT_THAT(named({"s", "elsewhere"}), ElementsAre("s/a", "s/b", "s/c", "elsewhere"));
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(NamedRuns, APlanOrdersThemAndTellsWhatIsMissing) {
  folder_.file("s/runs.json", R"([{"folder": "c", "settings": {}}, {"folder": "d"},
                                  {"folder": "a"}, {"folder": "cache"}])");
  EXPECT_THAT(named({"s"}), ElementsAre("s/c", "s/a", "s/b"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("s: 2 of 4 planned runs are missing: d, cache"),
                                 HasSubstr("its sweep does not plan them: b")));
}

TEST_F(NamedRuns, AnEmptySweepIsSaid) {
  folder_.file("t/sweep.toml", "");
  EXPECT_THAT(named({"t"}), IsEmpty());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("t: a sweep without any run yet")));
}

TEST_F(NamedRuns, ADamagedPlanIsRefused) {
  folder_.file("s/runs.json", "{}");
  EXPECT_THAT(message_of<DataError>([&] { named({"s"}); }), HasSubstr("runs.json: wanted a list"));
  folder_.file("s/runs.json", R"([{"folder": "a"}, {"name": "b"}])");
  EXPECT_THAT(message_of<DataError>([&] { named({"s"}); }),
              HasSubstr("entry 2 of the list has no \"folder\""));
}

}  // namespace
}  // namespace fedvg
