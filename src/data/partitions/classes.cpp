// So many classes a client (McMahan et al., 2017, arXiv 1602.05629; "#C = k" of NIID-Bench, Li et
// al., 2021, arXiv 2102.02079).
//
//   client k, one after the other: the classes_per_client classes with the fewest holders so far,
//   equals in random order; the numbers of holders then differ by at most one, and every class
//   is held once clients * classes_per_client reaches the number of classes
//   class c, with m samples and h holders: m / h each, m % h of the holders, drawn, one more

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/minimum.h"
#include "data/stratify.h"
#include "fedvg/error.h"
#include "fedvg/partition.h"
#include "fedvg/random.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct ClassesOptions {
  std::int64_t classes_per_client = 2;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("classes_per_client", &ClassesOptions::classes_per_client, at_least(1),
          "classes that each client gets");
  }
};

// Holders of each class, [classes]: of those in `present` only.
std::vector<std::vector<std::size_t>> choose_holders(std::vector<std::size_t> present,
                                                     std::size_t clients, std::int64_t each,
                                                     std::size_t classes, Random& random) {
  std::vector<std::vector<std::size_t>> holders(classes);
  for (std::size_t k = 0; k < clients; ++k) {
    random.shuffle(std::span(present));
    std::stable_sort(present.begin(), present.end(), [&](std::size_t a, std::size_t b) {
      return holders[a].size() < holders[b].size();
    });
    for (std::int64_t i = 0; i < each; ++i) {
      holders[present[static_cast<std::size_t>(i)]].push_back(k);
    }
  }
  return holders;
}

std::string class_count(std::size_t number) {
  return std::to_string(number) + (number == 1 ? " class" : " classes");
}

class Classes final : public Partitioner {
 public:
  explicit Classes(const ClassesOptions& options) : options_(options) {}

  Partition draw(const PartitionRequest& request) const override {
    Random random(request.seed, "partition");
    auto samples = by_class(request.available, request.labels, request.classes);
    std::vector<std::size_t> present;
    for (std::size_t c = 0; c < samples.size(); ++c) {
      if (!samples[c].empty()) present.push_back(c);
    }
    const std::int64_t each = options_.classes_per_client;
    if (each > std::ssize(present)) {
      throw OptionError("partition.classes_per_client = " + std::to_string(each) +
                        " is out of bounds: the clients have samples of " +
                        std::to_string(present.size()) + " classes to share");
    }
    const std::string scheme = "classes, classes_per_client = " + std::to_string(each);
    std::vector<std::vector<std::size_t>> holders;
    Partition partition = draw_with_minimum(request, scheme, [&] {
      holders = choose_holders(present, static_cast<std::size_t>(request.clients), each,
                               samples.size(), random);
      return dealt(samples, holders, static_cast<std::size_t>(request.clients), random);
    });
    say_what_is_left(samples, holders, partition.notes);
    return partition;
  }

 private:
  static std::vector<IndexList> dealt(std::vector<IndexList>& samples,
                                      std::vector<std::vector<std::size_t>>& holders,
                                      std::size_t clients, Random& random) {
    std::vector<IndexList> lists(clients);
    for (std::size_t c = 0; c < samples.size(); ++c) {
      if (holders[c].empty()) continue;
      random.shuffle(std::span(samples[c]));
      random.shuffle(std::span(holders[c]));
      for (std::size_t i = 0; i < samples[c].size(); ++i) {
        lists[holders[c][i % holders[c].size()]].push_back(samples[c][i]);
      }
    }
    return lists;
  }

  static void say_what_is_left(const std::vector<IndexList>& samples,
                               const std::vector<std::vector<std::size_t>>& holders,
                               std::vector<std::string>& notes) {
    std::size_t unheld = 0, unused = 0, scarce = 0;
    for (std::size_t c = 0; c < samples.size(); ++c) {
      if (holders[c].empty() && !samples[c].empty()) {
        ++unheld;
        unused += samples[c].size();
      }
      if (samples[c].size() < holders[c].size()) ++scarce;
    }
    if (unheld > 0) {
      notes.push_back("too few clients to take every class: the " + std::to_string(unused) +
                      " samples of " + class_count(unheld) + " go to nobody");
    }
    if (scarce > 0) {
      notes.push_back(class_count(scarce) +
                      " with fewer samples than clients that should hold it: some clients have "
                      "fewer than partition.classes_per_client classes");
    }
  }

  ClassesOptions options_;
};

FEDVG_REGISTER(Partitioner, "classes", Classes, ClassesOptions,
               "each client holds so many classes, each class divided evenly among its holders");

}  // namespace
}  // namespace fedvg
