#include "fedvg/method.h"

#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

TEST(Methods, NameTheirParts) {
  EXPECT_EQ(compose_method("fedavg").weighting.name, "size");
  EXPECT_EQ(compose_method("fedavg").correction.name, "none");
  EXPECT_EQ(compose_method("fedvg").weighting.name, "fedvg");
}

TEST(Methods, CombineWithFedVgInEitherOrder) {
  for (const char* name : {"fedavg+fedvg", "fedvg+fedavg"}) {
    const Method method = compose_method(name);
    EXPECT_EQ(method.name, "fedavg+fedvg");
    EXPECT_EQ(method.weighting.name, "mix");
    const Array& of = *method.weighting.options.find("of")->get<Array>();
    ASSERT_EQ(of.size(), 2U);
    EXPECT_EQ(*of[0].get<Table>()->find("name"), Value("fedvg"));
    EXPECT_EQ(*of[1].get<Table>()->find("name"), Value("size"));
  }
}

// U48: a near miss is refused with the names, never taken for FedAvg.
TEST(Methods, RefuseUnknownNamesWithCandidates) {
  for (const char* name : {"FedVGG", "fed-avgm", "", "+", "fedvg+", "fedvg+fedvg", "fedavg+uniform",
                           "fedavg+fedvg+fedvg"}) {
    try {
      compose_method(name);
      FAIL() << name;
    } catch (const OptionError& problem) {
      const std::string message = problem.what();
      EXPECT_NE(message.find("fedavg"), std::string::npos) << message;
    }
  }
}

TEST(Methods, AllNamedPartsExist) {
  for (const auto* row : method_rows()) {
    const Method& parts = row->parts;
    EXPECT_TRUE(Catalog::instance().find("correction", parts.correction.name)) << parts.name;
    EXPECT_TRUE(Catalog::instance().find("weighting", parts.weighting.name)) << parts.name;
    EXPECT_TRUE(Catalog::instance().find("server-optimizer", parts.server.name)) << parts.name;
  }
}

}  // namespace
}  // namespace fedvg
