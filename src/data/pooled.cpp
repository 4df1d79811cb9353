#include "data/pooled.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "data/choice.h"
#include "fedvg/error.h"
#include "fedvg/random.h"

namespace fedvg {
namespace {

template <class T>
void append(std::vector<T>& list, std::vector<T>& more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
  more = {};
}

std::string pooled_share(std::size_t part, std::int64_t whole) {
  return std::to_string(part) + " of the " + std::to_string(whole) + " pooled samples";
}

// Samples that belong to the server, by position in the pooled set.
class Server {
 public:
  explicit Server(std::int64_t samples) : has_(static_cast<std::size_t>(samples)) {}

  bool has(std::int64_t index) const { return has_[static_cast<std::size_t>(index)]; }
  // Moves up to `count` samples from the end of `offered` to `part`.
  void take(IndexList& offered, std::int64_t count, IndexList& part) {
    for (; count > 0 && !offered.empty(); --count) {
      has_[static_cast<std::size_t>(offered.back())] = true;
      part.push_back(offered.back());
      offered.pop_back();
    }
  }

 private:
  std::vector<bool> has_;
};

void settle_pooled_test(FederatedData& data, const Partition& partition, const DataOptions& options,
                        bool wants_validation, IndexList& drawn, std::uint64_t seed) {
  const std::int64_t samples = data.dataset.training.size();
  auto given = take_from_clients(data.clients, partition.test ? 0 : options.test_ratio,
                                 wants_validation ? options.val_ratio : 0, samples, seed);
  if (partition.test) {
    data.test = *partition.test;
    if (data.test.empty()) {
      throw DataError(
          "\"test\" of the partition file is empty: remove it from the file to have each client "
          "give data.test_ratio of its samples");
    }
    data.notes.push_back("test set: " + pooled_share(data.test.size(), samples) +
                         ", as the partition file says");
    if (options.test_ratio != DataOptions{}.test_ratio) {
      data.notes.push_back("data.test_ratio = " + Value(options.test_ratio).text() +
                           " does not apply: the partition file brings the test set");
    }
  } else {
    data.test = std::move(given.test);
    if (data.test.empty()) {
      throw OptionError("data.test_ratio = " + Value(options.test_ratio).text() +
                        ": no client has enough samples to give one to the test set; raise it, "
                        "or lower partition.clients");
    }
    data.notes.push_back("test set: " + pooled_share(data.test.size(), samples) +
                         ", data.test_ratio = " + Value(options.test_ratio).text() +
                         " of each client's");
  }
  if (partition.validation && options.val_ratio != DataOptions{}.val_ratio) {
    data.notes.push_back("data.val_ratio = " + Value(options.val_ratio).text() +
                         " does not apply: the partition file brings D_val");
  }
  drawn = std::move(given.validation);
}

}  // namespace

void pool_test_set(Dataset& dataset) {
  Samples &all = dataset.training, &test = dataset.test;
  if (all.is_features != test.is_features || all.image_bytes() != test.image_bytes()) {
    throw DataError(dataset.source +
                    ": training and test set cannot be pooled, their samples have other shapes");
  }
  if (all.owners.empty() != test.owners.empty()) {
    throw DataError(dataset.source + ": only the " + (all.owners.empty() ? "test" : "training") +
                    " set says whose its samples are; data.split = \"pooled\" needs both");
  }
  append(all.pixels, test.pixels);
  append(all.labels, test.labels);
  append(all.owners, test.owners);
}

GivenSamples take_from_clients(std::vector<IndexList>& clients, double test_ratio,
                               double validation_ratio, std::int64_t samples, std::uint64_t seed) {
  GivenSamples given;
  if (test_ratio == 0 && validation_ratio == 0) return given;
  Server server(samples);
  for (std::size_t k = 0; k < clients.size(); ++k) {
    IndexList offered = clients[k];
    Random random(seed, "pooled", 0, static_cast<std::int64_t>(k));
    random.shuffle(std::span(offered));
    std::erase_if(offered, [&](std::int64_t index) { return server.has(index); });
    server.take(offered, share_of(test_ratio, std::ssize(clients[k])), given.test);
    server.take(offered, share_of(validation_ratio, std::ssize(clients[k])), given.validation);
  }
  for (IndexList& client : clients) {
    std::erase_if(client, [&](std::int64_t index) { return server.has(index); });
  }
  std::sort(given.test.begin(), given.test.end());
  std::sort(given.validation.begin(), given.validation.end());
  return given;
}

void settle_test(FederatedData& data, const Partition& partition, const DataOptions& options,
                 const ValidationOptions& validation, IndexList& drawn, std::uint64_t seed) {
  if (data.pooled) {
    const bool wants_validation = validation.source == "holdout" && !partition.validation;
    settle_pooled_test(data, partition, options, wants_validation, drawn, seed);
    return;
  }
  if (partition.test) {
    throw DataError(
        "the partition file has a test set of its own, which counts the pooled samples: set "
        "data.split = \"pooled\", or remove \"test\" from the file");
  }
  data.test = all_positions(data.dataset.test.size());
}

std::vector<std::string> check_split(const DataOptions& options,
                                     const ValidationOptions& validation) {
  const DataOptions initial;
  const std::string val_ratio = "data.val_ratio = " + Value(options.val_ratio).text();
  const std::string test_ratio = "data.test_ratio = " + Value(options.test_ratio).text();
  const std::string ratio = "validation.ratio = " + Value(validation.ratio).text();
  std::vector<std::string> notes;
  if (options.split == "pooled") {
    if (options.val_ratio + options.test_ratio >= 1) {
      throw OptionError(val_ratio + " and " + test_ratio +
                        " leave the clients nothing: their sum must be below 1");
    }
    if (validation.ratio != ValidationOptions{}.ratio) {
      notes.push_back(ratio + " does not apply with data.split = \"pooled\": " + val_ratio +
                      " does");
    }
    if (options.val_ratio != initial.val_ratio && validation.source != "holdout") {
      notes.push_back(val_ratio + " has no effect with validation.source = \"" + validation.source +
                      "\"");
    }
    return notes;
  }
  if (options.val_ratio != initial.val_ratio) {
    notes.push_back(val_ratio + " does not apply with data.split = \"official\"");
  }
  if (options.test_ratio != initial.test_ratio) {
    notes.push_back(test_ratio +
                    " applies with data.split = \"pooled\" and to data without a test set only");
  }
  return notes;
}

}  // namespace fedvg
