#include "data/corruption.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include "data/choice.h"
#include "data/noise.h"
#include "fedvg/random.h"
#include "fedvg/value.h"

namespace fedvg {
namespace {

// One client's samples in the training set.
struct Corrupter {
  Samples& training;
  std::uint64_t classes;
  const CorruptionOptions& options;

  void corrupt(const IndexList& client, Random& random) const {
    if (options.kind == "label-flip") flip_labels(client);
    if (options.kind == "label-noise") draw_labels(client, random);
    if (options.kind == "image-noise") add_image_noise(client, random);
  }

 private:
  void flip_labels(const IndexList& client) const {
    for (const std::int64_t index : client) {
      std::int64_t& label = training.labels[static_cast<std::size_t>(index)];
      label = static_cast<std::int64_t>(classes) - 1 - label;
    }
  }

  void draw_labels(IndexList client, Random& random) const {
    const auto count = std::llround(options.level * static_cast<double>(client.size()));
    random.shuffle(std::span(client));
    for (const std::int64_t index : std::span(client).first(static_cast<std::size_t>(count))) {
      training.labels[static_cast<std::size_t>(index)] =
          static_cast<std::int64_t>(random.below(classes));
    }
  }

  void add_image_noise(const IndexList& client, Random& random) const {
    const auto bytes = static_cast<std::size_t>(training.image_bytes());
    for (const std::int64_t index : client) {
      const auto image =
          std::span(training.pixels).subspan(static_cast<std::size_t>(index) * bytes, bytes);
      training.is_features ? add_noise_to_features(image, options.level, random)
                           : add_noise(image, options.level, random);
    }
  }
};

// Samples of corrupted clients must be nobody else's, who would be corrupted with them.
void refuse_shared_samples(const FederatedData& data) {
  std::vector<std::int64_t> owner(data.dataset.training.labels.size(), -1);
  for (std::size_t k = 0; k < data.clients.size(); ++k) {
    for (const std::int64_t index : data.clients[k]) {
      auto& first = owner[static_cast<std::size_t>(index)];
      if (first >= 0 && (data.corrupted[k] || data.corrupted[static_cast<std::size_t>(first)])) {
        throw OptionError("corruption.kind: clients " + std::to_string(first) + " and " +
                          std::to_string(k) + " share sample " + std::to_string(index) +
                          ", and one of them is to be corrupted: with partition.overlap only "
                          "scaled-update and sign-flip are possible");
      }
      if (first < 0) first = static_cast<std::int64_t>(k);
    }
  }
}

bool any(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

void note_idle(const CorruptionOptions& options, std::vector<std::string>& notes) {
  const auto idle = [&](const char* key, const Value& value) {
    notes.push_back(std::string("corruption.") + key + " = " + value.text() +
                    " has no effect with corruption.share = 0");
  };
  if (!options.kind.empty()) idle("kind", options.kind);
  if (options.level != 0) idle("level", options.level);
}

}  // namespace

std::vector<WrongSetting> wrong_settings(const CorruptionOptions& options) {
  if (options.share == 0) return {};
  const std::string& kind = options.kind;
  const std::string level = Value(options.level).text();
  if (kind.empty()) {
    return {{"corruption.kind",
             "is missing: corruption.share = " + Value(options.share).text() +
                 " needs label-flip, label-noise, image-noise, scaled-update or sign-flip"}};
  }
  if (kind == "label-flip") {
    if (options.level == 0) return {};
    return {{"corruption.level", "label-flip has no level, got " + level}};
  }
  if (options.level == 0) {
    const std::string range = kind == "label-noise" ? "in (0, 1]" : "> 0";
    return {{"corruption.level", "is missing: " + kind + " needs one " + range}};
  }
  if (kind == "label-noise" && options.level > 1) {
    return {{"corruption.level", "must be in (0, 1] for label-noise, got " + level}};
  }
  return {};
}

bool changes_updates(const CorruptionOptions& options) {
  return options.kind == "scaled-update" || options.kind == "sign-flip";
}

double update_factor(const CorruptionOptions& options) {
  if (options.share == 0 || !changes_updates(options)) return 1;
  return options.kind == "sign-flip" ? -options.level : options.level;
}

std::vector<bool> corrupted_clients(const CorruptionOptions& options, std::int64_t clients,
                                    std::uint64_t seed) {
  std::vector<std::size_t> order(static_cast<std::size_t>(clients));
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed, "corruption");
  random.shuffle(std::span(order));
  const std::int64_t count = share_of(options.share, clients);
  std::vector<bool> corrupted(order.size());
  for (const std::size_t k : std::span(order).last(static_cast<std::size_t>(count))) {
    corrupted[k] = true;
  }
  return corrupted;
}

void corrupt_clients(FederatedData& data, const CorruptionOptions& options, std::uint64_t seed) {
  refuse_wrong(wrong_settings(options));
  if (options.share == 0) {
    note_idle(options, data.notes);
    return;
  }
  data.corrupted = corrupted_clients(options, std::ssize(data.clients), seed);
  if (!any(data.corrupted)) {
    data.notes.push_back("corruption.share = " + Value(options.share).text() + " of " +
                         std::to_string(data.clients.size()) + " clients is nobody");
    return;
  }
  if (changes_updates(options)) return;
  refuse_shared_samples(data);
  const Corrupter corrupter{data.dataset.training, data.dataset.classes.size(), options};
  for (std::size_t k = 0; k < data.clients.size(); ++k) {
    if (!data.corrupted[k]) continue;
    Random random(seed, "corruption-data", 0, static_cast<std::int64_t>(k));
    corrupter.corrupt(data.clients[k], random);
  }
  data.notes.push_back("corruption: " + corruption_text(options, data.corrupted) +
                       "; counts by class and partition.json are of the data as read");
}

std::string corruption_text(const CorruptionOptions& options, const std::vector<bool>& corrupted) {
  const auto count = std::count(corrupted.begin(), corrupted.end(), true);
  std::string text = std::to_string(count) + " of " + std::to_string(corrupted.size()) +
                     " clients: " + options.kind;
  if (options.level != 0) text += ", level = " + Value(options.level).text();
  return text;
}

}  // namespace fedvg
