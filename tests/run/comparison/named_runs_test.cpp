#include "run/comparison/named_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/comparison/made_up_runs.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

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

TEST_F(NamedRuns, ADamagedPlanIsSaidAndCountsForNone) {
  const std::pair<const char*, const char*> damages[] = {
      {"{}", "wanted a list"},
      {"", "is not JSON"},
      {R"([{"folder": "c"}, {"fol)", "is not JSON"},
      {R"([{"folder": "c"}, {"name": "b"}])", "entry 2 of the list has no \"folder\""}};
  for (const auto& [text, words] : damages) {
    const auto path = folder_.file("s/runs.json", text);
    EXPECT_THAT(named({"s"}), ElementsAre("s/a", "s/b", "s/c")) << text;
    EXPECT_THAT(notes, ElementsAre(AllOf(StartsWith("damaged: " + path.string()), HasSubstr(words),
                                         HasSubstr("fedvg sweep, called again, writes"))))
        << text;
  }
}

}  // namespace
}  // namespace fedvg
