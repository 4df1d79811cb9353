// One setting: its type, bounds and choices.

#include <gtest/gtest.h>

#include "config/resolve.h"
#include "config/testing.h"

namespace fedvg::config {
namespace {

// The one message about `[train]` with this line.
std::string refused(const std::string& line) {
  const auto found = problems("[train]\n" + line + "\n");
  EXPECT_EQ(found.size(), 1U) << line;
  return found.empty() ? "" : found[0];
}

std::string taken(const std::string& line, const std::string& key) {
  return at(resolved("[train]\n" + line + "\n"), "train." + key);
}

}  // namespace

TEST(Checked, WrongTypesSayWhatIsWantedAndWhatWasGiven) {
  EXPECT_EQ(refused("rounds = \"ten\""),
            "a.toml:2: train.rounds: wanted an integer, got string \"ten\"");
  EXPECT_EQ(refused("shuffle = 1"), "a.toml:2: train.shuffle: wanted true or false, got integer 1");
  EXPECT_EQ(refused("buffers = 1"),
            "a.toml:2: train.buffers: wanted a string, got integer 1; put quotes around it");
  EXPECT_EQ(refused("widths = 64"),
            "a.toml:2: train.widths: wanted a list of integers, got integer 64");
  EXPECT_EQ(
      refused("optimizer = 3"),
      "a.toml:2: train.optimizer: wanted an optimizer: its name, or {name = …}, got integer 3");
  EXPECT_EQ(refused("optimizer = {name = 3}"),
            "a.toml:2: train.optimizer.name: wanted a string, got integer 3; put quotes around it");
}

TEST(Checked, AnIntegerIsANumberButNoOtherTypeIsConverted) {
  EXPECT_EQ(taken("participation = 1", "participation"), "1.0");
  EXPECT_EQ(refused("rounds = 3.0"),
            "a.toml:2: train.rounds: wanted an integer, got number 3.0; write 3");
  EXPECT_NE(refused("rounds = true"), "");
  EXPECT_NE(refused("participation = true"), "");
  EXPECT_NE(refused("participation = \"0.1\""), "");
}

TEST(Checked, OutOfBoundsQuotesTheBoundAndTheValue) {
  EXPECT_EQ(refused("rounds = 0"), "a.toml:2: train.rounds: must be >= 1, got 0");
  EXPECT_EQ(refused("participation = 0"),
            "a.toml:2: train.participation: must be in (0, 1], got 0");
  EXPECT_EQ(refused("participation = 1.5"),
            "a.toml:2: train.participation: must be in (0, 1], got 1.5");
  EXPECT_EQ(taken("participation = 1.0", "participation"), "1.0");
}

TEST(Checked, NanAndInfinityAreRefusedWithTheBound) {
  EXPECT_EQ(refused("participation = nan"),
            "a.toml:2: train.participation: must be finite and in (0, 1], got nan");
  EXPECT_EQ(refused("optimizer = {lr = inf}"),
            "a.toml:2: train.optimizer.lr: must be finite and > 0, got inf");
  EXPECT_EQ(refused("rates = [0.1, nan]"),
            "a.toml:2: train.rates[1]: must be finite and > 0, got nan");
}

TEST(Checked, UnknownChoicesListTheKnownOnes) {
  EXPECT_EQ(refused("buffers = \"gobal\""),
            "a.toml:2: train.buffers: unknown value 'gobal'; did you mean 'global'? known: global, "
            "local, reset");
}

TEST(Checked, ListsAreCheckedElementByElement) {
  EXPECT_EQ(taken("widths = [1, 2]", "widths"), "[1, 2]");
  EXPECT_EQ(taken("widths = []", "widths"), "[]");
  EXPECT_EQ(taken("rates = [1, 0.5]", "rates"), "[1.0, 0.5]");
  EXPECT_EQ(taken("freeze = [\"head\"]", "freeze"), "[\"head\"]");
  const auto found = problems("[train]\nwidths = [\n 8,\n 0,\n 2.5,\n]\nfreeze = [\"tail\"]\n");
  EXPECT_EQ(found, (std::vector<std::string>{
                       "a.toml:4: train.widths[1]: must be >= 1, got 0",
                       "a.toml:5: train.widths[2]: wanted an integer, got number 2.5",
                       "a.toml:7: train.freeze[0]: unknown value 'tail'; known: head, stem"}));
}

TEST(Checked, TheDefaultIsAcceptedEvenOutsideItsConstraint) {
  const Schema schema = {
      {.name = "kind", .type = OptionType::text, .initial = "", .choices = {"a", "b"}},
      {.name = "level", .type = OptionType::number, .initial = 0.0, .bounds = above(0)},
      {.name = "part",
       .type = OptionType::part,
       .initial = Table{{"name", ""}},
       .part_kind = "optimizer"}};
  Problems found;
  const Table once = resolve_fields(schema, {}, "s", found);
  EXPECT_EQ(Value(once).text(), R"({kind = "", level = 0.0, part = {name = ""}})");
  EXPECT_EQ(resolve_fields(schema, once, "s", found), once);
  EXPECT_TRUE(found.empty());
  resolve_fields(schema, {{"part", Table{{"lr", 1}}}}, "s", found);
  EXPECT_EQ(found.messages(), std::vector<std::string>{
                                  "s.part: lacks the name of a part; known: adam, lookahead, sgd"});
}

TEST(Checked, LongValuesAreShortenedInMessages) {
  const std::string message = refused("rounds = \"" + std::string(5000, 'x') + "\"");
  EXPECT_LT(message.size(), 200U);
  EXPECT_TRUE(message.ends_with("xx…")) << message;
}

}  // namespace fedvg::config
