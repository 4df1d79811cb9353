#include <gtest/gtest.h>

#include "config/testing.h"
#include "fedvg/registry.h"

namespace fedvg::config {

TEST(Catalog, KnowsPartsByKindSortedByName) {
  const Catalog& catalog = Catalog::instance();
  std::vector<std::string> names;
  for (const PartInfo* info : catalog.parts("optimizer")) names.push_back(info->name);
  EXPECT_EQ(names, (std::vector<std::string>{"adam", "lookahead", "sgd"}));
  EXPECT_TRUE(catalog.parts("optimiser").empty());
  EXPECT_EQ(catalog.find("optimizer", "fedprox"), nullptr);
  ASSERT_NE(catalog.find("correction", "fedprox"), nullptr);
  EXPECT_EQ(catalog.find("correction", "fedprox")->schema[0].name, "mu");
}

TEST(CatalogDeath, ASecondPartOfANameAbortsNamingBothFiles) {
  Catalog catalog;
  catalog.add("kind", {"one", "", {}, "first.cpp"});
  EXPECT_DEATH(catalog.add("kind", {"one", "", {}, "second.cpp"}), "first.cpp and in second.cpp");
}

TEST(CatalogDeath, AnOptionCalledNameAborts) {
  Catalog catalog;
  const Field field{.name = "name", .type = OptionType::text, .initial = ""};
  EXPECT_DEATH(catalog.add("kind", {"one", "", {field}, "first.cpp"}), "first.cpp.*reserved");
}

TEST(Registry, MakesAPartFromItsOptions) {
  EXPECT_EQ(Registry<FakeWeighting>::instance().make("fedvg", {{"norm", "l2"}})->text(), "l2");
  EXPECT_EQ(Registry<FakeWeighting>::instance().make("fedvg")->text(), "l1");
}

TEST(Registry, RefusesWithTheCandidates) {
  const auto& registry = Registry<FakeWeighting>::instance();
  const auto message = [&](const std::string& name, const Table& options) {
    try {
      registry.make(name, options);
    } catch (const OptionError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("FedVGG", {}),
            "weighting: unknown weighting 'FedVGG'; did you mean 'fedvg'? known: fedvg, mix, size");
  EXPECT_EQ(message("fedvg", {{"nrom", "l2"}, {"eps", -1}}),
            "weighting.eps: must be > 0, got -1\n"
            "unknown option 'nrom' of weighting fedvg; did you mean 'norm'? known: eps, norm");
  EXPECT_EQ(message("size", {{"norm", "l2"}}),
            "weighting.norm: norm belongs to weighting fedvg, which is not in use "
            "(weighting is size)");
}

}  // namespace fedvg::config
