#include "data/minimum.h"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <utility>

#include "data/class_counts.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr int draws = 20;

std::int64_t smallest_size(const std::vector<IndexList>& clients) {
  const auto smaller = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto smallest = std::min_element(clients.begin(), clients.end(), smaller);
  return static_cast<std::int64_t>(smallest->size());
}

std::string setting(const char* name, std::int64_t value) {
  return std::string(name) + " = " + std::to_string(value);
}

// Removes `count` samples of class `label` from the end of `from`.
IndexList taken(IndexList& from, std::span<const std::int64_t> labels, std::int64_t label,
                std::int64_t count) {
  IndexList moved;
  for (std::size_t at = from.size(); at-- > 0 && std::ssize(moved) < count;) {
    if (labels[static_cast<std::size_t>(from[at])] != label) continue;
    moved.push_back(from[at]);
    from[at] = -1;
  }
  std::erase(from, -1);
  return moved;
}

// The class of which there is most, and how many.
std::pair<std::int64_t, std::int64_t> commonest(const IndexList& list,
                                                std::span<const std::int64_t> labels,
                                                std::int64_t classes) {
  const auto counts = class_counts(list, labels, static_cast<std::size_t>(classes));
  const auto most = std::max_element(counts.begin(), counts.end());
  return {most - counts.begin(), *most};
}

}  // namespace

void refuse_impossible(const PartitionRequest& request) {
  const auto available = static_cast<std::int64_t>(request.available.size());
  const std::int64_t held_out = std::ssize(request.labels) - available;
  if (request.min_samples == 0 || request.clients <= available / request.min_samples) return;
  throw OptionError(
      setting("partition.min_samples", request.min_samples) + " and " +
      setting("partition.clients", request.clients) + " need " + std::to_string(request.clients) +
      " x " + std::to_string(request.min_samples) + " samples, but the clients have " +
      std::to_string(available) + " to share" +
      (held_out > 0 ? " beside the " + std::to_string(held_out) + " that validation.ratio holds out"
                    : "") +
      "; lower one of them");
}

Repair repair(std::vector<IndexList>& clients, std::span<const std::int64_t> labels,
              std::int64_t classes, std::int64_t minimum) {
  // By size, then the first client: only clients above the minimum ever give.
  std::priority_queue<std::pair<std::int64_t, std::int64_t>> givers;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const std::int64_t size = std::ssize(clients[i]);
    if (size > minimum) givers.emplace(size, -static_cast<std::int64_t>(i));
  }
  Repair done;
  for (auto& receiver : clients) {
    if (std::ssize(receiver) < minimum) ++done.receivers;
    while (std::ssize(receiver) < minimum) {
      const auto [size, minus_giver] = givers.top();
      givers.pop();
      IndexList& giver = clients[static_cast<std::size_t>(-minus_giver)];
      const auto [label, count] = commonest(giver, labels, classes);
      const std::int64_t number =
          std::min({minimum - std::ssize(receiver), count, (size - minimum + 1) / 2});
      const IndexList moved = taken(giver, labels, label, number);
      receiver.insert(receiver.end(), moved.begin(), moved.end());
      done.moved += number;
      if (size - number > minimum) givers.emplace(size - number, minus_giver);
    }
  }
  return done;
}

Partition draw_with_minimum(const PartitionRequest& request, const std::string& scheme,
                            const std::function<std::vector<IndexList>()>& draw) {
  refuse_impossible(request);
  Partition partition;
  std::int64_t smallest = -1;
  for (int i = 0; i < draws && smallest < request.min_samples; ++i) {
    partition.clients = draw();
    smallest = smallest_size(partition.clients);
  }
  if (smallest < request.min_samples) {
    if (request.refuse_short) {
      throw OptionError("partition.scheme = " + scheme + ": " + std::to_string(draws) +
                        " draws for " + std::to_string(request.clients) +
                        " clients all left one below " +
                        setting("partition.min_samples", request.min_samples) +
                        " (the smallest of the last has " + std::to_string(smallest) +
                        "); set partition.on_short = \"repair\", or change one of these");
    }
    const Repair done =
        repair(partition.clients, request.labels, request.classes, request.min_samples);
    partition.notes.push_back("partition repaired: " + std::to_string(done.moved) +
                              " samples moved from the largest "
                              "clients to " +
                              std::to_string(done.receivers) + " that had fewer than " +
                              setting("min_samples", request.min_samples) + " after " +
                              std::to_string(draws) + " draws (the smallest had " +
                              std::to_string(smallest) + ")");
  }
  for (auto& client : partition.clients) std::sort(client.begin(), client.end());
  return partition;
}

}  // namespace fedvg
