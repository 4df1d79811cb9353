#include "data/corruption.h"

#include <algorithm>
#include <numeric>

#include "data/noise.h"
#include "data/testing.h"
#include "fedvg/random.h"

namespace fedvg {
namespace {

using testing::message_of;

std::string refusal(const CorruptionOptions& options) {
  const auto wrong = wrong_settings(options);
  EXPECT_LE(wrong.size(), 1u);
  return wrong.empty() ? "" : wrong[0].key + ": " + wrong[0].reason;
}

// 40 samples of classes 0 to 3 in turn, image i of value i; four clients of nine, D_val of four.
FederatedData four_clients() {
  FederatedData data;
  data.dataset.classes = {"a", "b", "c", "d"};
  auto& training = data.dataset.training;
  training.channels = training.height = training.width = 1;
  data.clients.resize(4);
  for (std::int64_t i = 0; i < 40; ++i) {
    training.pixels.push_back(static_cast<std::uint8_t>(i));
    training.labels.push_back(i % 4);
    (i < 36 ? data.clients[static_cast<std::size_t>(i / 9)] : data.validation).push_back(i);
  }
  return data;
}

// Positions where `now` differs, and whose they are.
std::vector<std::size_t> changed_clients(const FederatedData& data, const FederatedData& now) {
  std::vector<std::size_t> changed;
  for (std::size_t k = 0; k < data.clients.size(); ++k) {
    for (const std::int64_t i : data.clients[k]) {
      const auto at = static_cast<std::size_t>(i);
      if (data.dataset.training.labels[at] == now.dataset.training.labels[at] &&
          data.dataset.training.pixels[at] == now.dataset.training.pixels[at])
        continue;
      changed.push_back(k);
      break;
    }
  }
  return changed;
}

std::vector<std::size_t> corrupted_of(const FederatedData& data) {
  std::vector<std::size_t> numbers;
  for (std::size_t k = 0; k < data.corrupted.size(); ++k) {
    if (data.corrupted[k]) numbers.push_back(k);
  }
  return numbers;
}

TEST(Corruption, MeetsTheLastOfAPermutation) {
  std::vector<std::size_t> order(10);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(5, "corruption");
  random.shuffle(std::span(order));
  const auto three = corrupted_clients({.share = 0.39}, 10, 5);
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_EQ(three[order[k]], k >= 7) << k;
  }
  // Whoever is corrupted at a small share is so at a larger one.
  const auto six = corrupted_clients({.share = 0.6}, 10, 5);
  for (std::size_t k = 0; k < 10; ++k) EXPECT_LE(three[k], six[k]);
  EXPECT_EQ(std::ranges::count(corrupted_clients({.share = 0.29}, 100, 1), true), 29);
  EXPECT_EQ(std::ranges::count(corrupted_clients({.share = 1}, 7, 1), true), 7);
}

TEST(Corruption, FlipsLabelsOfItsClientsOnly) {
  const FederatedData before = four_clients();
  FederatedData data = before;
  corrupt_clients(data, {.share = 0.5, .kind = "label-flip"}, 1);
  EXPECT_EQ(corrupted_of(data).size(), 2u);
  for (std::size_t k = 0; k < 4; ++k) {
    for (const std::int64_t i : data.clients[k]) {
      EXPECT_EQ(data.dataset.training.labels[static_cast<std::size_t>(i)],
                data.corrupted[k] ? 3 - i % 4 : i % 4);
    }
  }
  for (const std::int64_t i : data.validation) {
    EXPECT_EQ(data.dataset.training.labels[static_cast<std::size_t>(i)], i % 4);
  }
  EXPECT_EQ(data.dataset.training.pixels, before.dataset.training.pixels);
  EXPECT_EQ(data.notes,
            std::vector<std::string>{"corruption: 2 of 4 clients: label-flip; counts by class and "
                                     "partition.json are of the data as read"});
}

// 9 * 0.5 = 4.5 is 5 labels, each drawn from all four classes.
TEST(Corruption, DrawsAShareOfTheLabelsAnew) {
  const FederatedData before = four_clients();
  FederatedData data = before;
  corrupt_clients(data, {.share = 0.25, .kind = "label-noise", .level = 0.5}, 3);
  ASSERT_EQ(corrupted_of(data).size(), 1u);
  const std::size_t k = corrupted_of(data)[0];
  IndexList order = data.clients[k];
  Random random(3, "corruption-data", 0, static_cast<std::int64_t>(k));
  random.shuffle(std::span(order));
  auto wanted = before.dataset.training.labels;
  for (std::size_t i = 0; i < 5; ++i) {
    wanted[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(random.below(4));
  }
  EXPECT_EQ(data.dataset.training.labels, wanted);
  EXPECT_NE(data.dataset.training.labels, before.dataset.training.labels);
  EXPECT_EQ(data.dataset.training.pixels, before.dataset.training.pixels);
}

TEST(Corruption, AddsNoiseToImages) {
  const FederatedData before = four_clients();
  FederatedData data = before;
  corrupt_clients(data, {.share = 0.75, .kind = "image-noise", .level = 0.2}, 1);
  EXPECT_EQ(corrupted_of(data).size(), 3u);
  EXPECT_EQ(changed_clients(before, data), corrupted_of(data));
  EXPECT_EQ(data.dataset.training.labels, before.dataset.training.labels);
  const std::size_t k = corrupted_of(data)[1];
  std::vector<std::uint8_t> pixels;
  for (const std::int64_t i : data.clients[k]) pixels.push_back(static_cast<std::uint8_t>(i));
  Random random(1, "corruption-data", 0, static_cast<std::int64_t>(k));
  add_noise(pixels, 0.2, random);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    EXPECT_EQ(data.dataset.training.pixels[static_cast<std::size_t>(data.clients[k][i])],
              pixels[i]);
  }
}

TEST(Corruption, OfUpdatesLeavesTheDataAlone) {
  const FederatedData before = four_clients();
  for (const char* kind : {"scaled-update", "sign-flip"}) {
    FederatedData data = before;
    const CorruptionOptions options{.share = 0.5, .kind = kind, .level = 3};
    corrupt_clients(data, options, 1);
    EXPECT_EQ(corrupted_of(data).size(), 2u);
    EXPECT_TRUE(changed_clients(before, data).empty());
    EXPECT_TRUE(changes_updates(options));
  }
  EXPECT_EQ(update_factor({.share = 0.5, .kind = "scaled-update", .level = 3}), 3);
  EXPECT_EQ(update_factor({.share = 0.5, .kind = "sign-flip", .level = 3}), -3);
  EXPECT_EQ(update_factor({.share = 0.5, .kind = "label-noise", .level = 0.5}), 1);
  EXPECT_EQ(update_factor({.kind = "sign-flip", .level = 3}), 1);
}

// The same clients whatever the kind, so that kinds can be compared.
TEST(Corruption, MeetsTheSameClientsWhateverTheKind) {
  FederatedData flipped = four_clients(), scaled = four_clients();
  corrupt_clients(flipped, {.share = 0.5, .kind = "label-flip"}, 9);
  corrupt_clients(scaled, {.share = 0.5, .kind = "scaled-update", .level = 10}, 9);
  EXPECT_EQ(flipped.corrupted, scaled.corrupted);
}

TEST(Corruption, RefusesSamplesThatAreAnothersToo) {
  const CorruptionOptions flip{.share = 0.5, .kind = "label-flip"};
  FederatedData data = four_clients();
  corrupt_clients(data, flip, 1);
  const std::size_t bad = corrupted_of(data)[0];
  std::vector<std::size_t> honest;
  for (std::size_t k = 0; k < 4; ++k) {
    if (!data.corrupted[k]) honest.push_back(k);
  }
  data = four_clients();
  data.clients[honest[0]].push_back(data.clients[bad][0]);
  const auto message = message_of<OptionError>([&] { corrupt_clients(data, flip, 1); });
  EXPECT_NE(message.find("share sample " + std::to_string(data.clients[bad][0])), std::string::npos)
      << message;
  EXPECT_EQ(data.dataset.training.labels, four_clients().dataset.training.labels);
  EXPECT_NO_THROW(corrupt_clients(data, {.share = 0.5, .kind = "sign-flip", .level = 1}, 1));
  // Two honest clients may share a sample.
  data = four_clients();
  data.clients[honest[0]].push_back(data.clients[honest[1]][0]);
  EXPECT_NO_THROW(corrupt_clients(data, flip, 1));
}

TEST(Corruption, OfNobodyIsSaid) {
  FederatedData data = four_clients();
  corrupt_clients(data, {}, 1);
  EXPECT_TRUE(data.corrupted.empty());
  EXPECT_TRUE(data.notes.empty());
  corrupt_clients(data, {.kind = "label-noise", .level = 0.5}, 1);
  EXPECT_TRUE(data.corrupted.empty());
  EXPECT_EQ(data.notes, (std::vector<std::string>{
                            "corruption.kind = \"label-noise\" has no effect with "
                            "corruption.share = 0",
                            "corruption.level = 0.5 has no effect with corruption.share = 0"}));
  data.notes.clear();
  corrupt_clients(data, {.share = 0.2, .kind = "label-flip"}, 1);
  EXPECT_EQ(data.corrupted, std::vector<bool>(4, false));
  EXPECT_EQ(data.notes, std::vector<std::string>{"corruption.share = 0.2 of 4 clients is nobody"});
}

TEST(Corruption, ChecksKindAndLevel) {
  EXPECT_EQ(refusal({.share = 0.1}),
            "corruption.kind: is missing: corruption.share = 0.1 needs label-flip, label-noise, "
            "image-noise, scaled-update or sign-flip");
  EXPECT_EQ(refusal({.share = 0.1, .kind = "label-flip", .level = 2}),
            "corruption.level: label-flip has no level, got 2.0");
  EXPECT_EQ(refusal({.share = 0.1, .kind = "label-noise"}),
            "corruption.level: is missing: label-noise needs one in (0, 1]");
  EXPECT_EQ(refusal({.share = 0.1, .kind = "label-noise", .level = 1.5}),
            "corruption.level: must be in (0, 1] for label-noise, got 1.5");
  for (const char* kind : {"image-noise", "scaled-update", "sign-flip"}) {
    EXPECT_EQ(refusal({.share = 0.1, .kind = kind}),
              "corruption.level: is missing: " + std::string(kind) + " needs one > 0");
    EXPECT_EQ(refusal({.share = 0.1, .kind = kind, .level = 1.5}), "");
  }
  EXPECT_EQ(refusal({.share = 0.1, .kind = "label-noise", .level = 1}), "");
  EXPECT_EQ(refusal({.kind = "label-noise", .level = 7}), "");
  FederatedData data = four_clients();
  EXPECT_THROW(corrupt_clients(data, {.share = 0.1}, 1), OptionError);
}

TEST(Corruption, IsToldInALine) {
  EXPECT_EQ(corruption_text({.share = 0.5, .kind = "image-noise", .level = 0.5},
                            {true, false, true, false}),
            "2 of 4 clients: image-noise, level = 0.5");
}

}  // namespace
}  // namespace fedvg
