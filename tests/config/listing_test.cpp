#include "config/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "config/testing.h"
#include "fedvg/error.h"

namespace fedvg::config {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& kind, const std::string& name = "") {
  try {
    list_text(sections(), kind, name);
  } catch (const OptionError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST(List, WithoutAKindShowsEveryPartAndSection) {
  const std::string text = list_text(sections());
  EXPECT_THAT(text, HasSubstr("correction\n"
                              "  feddyn   dynamic regularisation\n"
                              "  fedprox  pull to the global model\n"
                              "  none     local training unchanged\n"));
  EXPECT_THAT(text, HasSubstr("  seed         of every random stream\n"
                              "  [partition]  who holds which samples\n"));
}

TEST(List, AKindThatIsAlsoASectionShowsBoth) {
  const std::string text = list_text(sections(), "partition");
  EXPECT_THAT(text, HasSubstr("partition\n  dirichlet  by class shares\n"));
  EXPECT_THAT(text,
              HasSubstr("[partition]: who holds which samples\n"
                        "  scheme   partition (a part), default dirichlet, one of dirichlet | "
                        "file | iid\n"
                        "           how data are dealt out\n"));
}

TEST(List, APartShowsItsOptions) {
  EXPECT_EQ(list_text(sections(), "optimizer", "adam"),
            "optimizer adam: adaptive moments\n"
            "  lr     number, default 0.001, > 0\n"
            "         learning rate\n"
            "  betas  list of numbers, default [0.9, 0.999], in [0, 1)\n"
            "         decay of the two moments\n");
  EXPECT_EQ(list_text(sections(), "correction", "none"),
            "correction none: local training unchanged\n  no options\n");
}

TEST(List, OneOptionOfASection) {
  EXPECT_EQ(list_text(sections(), "train", "buffers"),
            "[train]\n"
            "  buffers  string, default \"global\", one of \"global\" | \"local\" | \"reset\"\n"
            "           whose\n");
}

TEST(List, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refusal("optimiser"),
            "unknown kind or section 'optimiser'; did you mean 'optimizer'? known: correction, "
            "method, optimizer, partition, server, train, weighting");
  EXPECT_EQ(refusal("weighting", "FedVGG"),
            "unknown weighting 'FedVGG'; did you mean 'fedvg'? known: fedvg, mix, size");
  EXPECT_THAT(refusal("train", "round"), HasSubstr("did you mean 'rounds'?"));
}

TEST(List, StaysWithinAHundredColumns) {
  std::string help;
  for (int i = 0; i < 60; ++i) help += "größer ";
  const Field field{.name = "option", .type = OptionType::integer, .initial = 1, .help = help};
  std::istringstream text(list_text({{"section", help, {field}}}, "section"));
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    std::size_t columns = 0;
    for (const char c : line) columns += (c & 0xc0) != 0x80;
    EXPECT_LE(columns, 100U) << line;
  }
  EXPECT_GT(lines, 8);
}

TEST(Reference, HasEverySectionOptionAndPartOnce) {
  const std::string text = reference_markdown(sections());
  EXPECT_EQ(text, reference_markdown(sections()));
  EXPECT_THAT(text, HasSubstr("## [train]\n\nlocal training\n\n"));
  EXPECT_THAT(text, HasSubstr("| `rounds` | integer | `50` | >= 1 | of communication |\n"));
  EXPECT_THAT(text, HasSubstr("| `buffers` | string | `\"global\"` | `\"global\"`, `\"local\"`, "
                              "`\"reset\"` | whose |\n"));
  EXPECT_THAT(text, HasSubstr("| `inner` | optimizer | `{name = \"sgd\", lr = 0.5}` | `\"adam\"`, "
                              "`\"lookahead\"`, `\"sgd\"` | the fast optimizer |\n"));
  EXPECT_THAT(text, HasSubstr("Their options stand in the section, beside `scheme`."));
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find("### optimizer\n", at)) != text.npos; ++at) ++found;
  EXPECT_EQ(found, 1U);
}

TEST(Reference, ABarInATextDoesNotBreakTheTable) {
  const Field field{.name = "x", .type = OptionType::text, .initial = "a|b", .help = "c|d"};
  EXPECT_THAT(reference_markdown({{"s", "", {field}}}), HasSubstr("| `\"a\\|b\"` |  | c\\|d |\n"));
}

}  // namespace fedvg::config
