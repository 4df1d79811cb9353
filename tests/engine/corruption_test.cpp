#include <gtest/gtest.h>

#include "engine/toy_federation.h"

namespace fedvg {
namespace {

using testing::Scripted;
using testing::ToyFederation;
using testing::ToyOptions;

// Clients 0 and 1 learn +0.25 and +0.5 in every number.
ToyFederation federation(std::vector<bool> corrupted, double factor, double second = 0.5,
                         const std::string& method = "fedavg") {
  ToyOptions options;
  options.sizes = {10, 10};
  options.use(compose_method(method));
  options.scripted = std::make_unique<Scripted>(
      [second](std::int64_t, std::int64_t client) { return client == 0 ? 0.25 : second; });
  options.adjust = [=](DriverSetup& setup) {
    setup.corrupted = corrupted;
    setup.corrupted_update_factor = factor;
  };
  return ToyFederation(std::move(options));
}

// (0.25 - 2 x 0.5) / 2
TEST(Corruption, ScalesWhatACorruptedClientSends) {
  ToyFederation toy = federation({false, true}, -2);
  const auto before = toy.model();
  const RoundRecord record = toy.round(1, {1, 0});
  const auto after = toy.model();
  for (std::size_t l = 0; l < toy.driver->layout().tensors(); ++l) {
    const auto at = static_cast<std::size_t>(toy.driver->layout().slots()[l].offset);
    EXPECT_NEAR(after[at] - before[at], -0.375, 1e-12);
  }
  EXPECT_EQ(record.clients[0].corrupted, true);
  EXPECT_EQ(record.clients[1].corrupted, false);
}

// Twice 0.3 is 0.6 without rounding: the same model is scored, so the same norm.
TEST(Corruption, TheModelThatIsScoredIsTheOneThatIsSent) {
  for (const char* method : {"fedvg", "fedavg"}) {
    ToyFederation corrupted = federation({false, true}, -2, 0.3, method);
    ToyFederation honest = federation({}, 1, -0.6, method);
    const auto sent = corrupted.round(1, {0, 1}).clients[1];
    const auto learned = honest.round(1, {0, 1}).clients[1];
    EXPECT_EQ(sent.norm, learned.norm);
    EXPECT_EQ(sent.score, learned.score);
    EXPECT_EQ(sent.norm.has_value(), method == std::string("fedvg"));
    EXPECT_EQ(corrupted.everything(), honest.everything());
    EXPECT_EQ(learned.corrupted, std::nullopt);
  }
}

TEST(Corruption, WithoutAFactorOnlyTheRecordTells) {
  ToyFederation corrupted = federation({false, true}, 1), honest = federation({}, 1);
  EXPECT_EQ(corrupted.round(1, {0, 1}).clients[1].corrupted, true);
  honest.round(1, {0, 1});
  EXPECT_EQ(corrupted.everything(), honest.everything());
}

TEST(Corruption, AnUpdateScaledBeyondNumbersIsNotFinite) {
  ToyFederation toy = federation({false, true}, 1.7e308, 2.0);
  const RoundRecord record = toy.round(1, {0, 1});
  EXPECT_EQ(record.clients[1].status, "not-finite");
  EXPECT_EQ(record.clients[0].status, "ok");
}

}  // namespace
}  // namespace fedvg
