#include "data/balanced.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "data/minimum.h"
#include "data/stratify.h"
#include "fedvg/error.h"
#include "fedvg/random.h"

namespace fedvg {
namespace {

std::string setting(std::int64_t balanced) {
  return "partition.balanced = " + std::to_string(balanced);
}

void check(const Partitioner& partitioner, const PartitionRequest& request, std::int64_t balanced) {
  if (!partitioner.drawn()) {
    throw OptionError(setting(balanced) +
                      " makes clients of a drawn partition, but partition.scheme takes them as "
                      "they are given; remove one of the two");
  }
  if (balanced >= request.clients) {
    throw OptionError(setting(balanced) + " is out of bounds: of " +
                      std::to_string(request.clients) + " clients at most " +
                      std::to_string(request.clients - 1) +
                      " can be balanced; with partition.scheme = \"iid\" all are");
  }
  refuse_impossible(request);
}

void check_share(const IndexList& share, const PartitionRequest& request, std::int64_t balanced) {
  const std::int64_t least = std::max<std::int64_t>(1, request.min_samples);
  if (std::ssize(share) >= least) return;
  throw OptionError(setting(balanced) + ": an equal share of every class for each of " +
                    std::to_string(request.clients) + " clients is " +
                    std::to_string(share.size()) + " samples, fewer than " +
                    (request.min_samples > 0
                         ? "partition.min_samples = " + std::to_string(request.min_samples)
                         : std::string("one")) +
                    "; lower the number of clients");
}

// Moves the shares of the balanced clients out of `available`.
std::vector<IndexList> take_shares(IndexList& available, const PartitionRequest& request,
                                   std::int64_t balanced) {
  Random random(request.seed, "partition-balanced");
  std::vector<IndexList> clients(static_cast<std::size_t>(balanced));
  IndexList rest;
  for (IndexList& samples : by_class(available, request.labels, request.classes)) {
    random.shuffle(std::span(samples));
    const std::int64_t each = std::ssize(samples) / request.clients;
    auto from = samples.begin();
    for (IndexList& client : clients) {
      client.insert(client.end(), from, from + each);
      from += each;
    }
    rest.insert(rest.end(), from, samples.end());
  }
  for (IndexList& client : clients) std::sort(client.begin(), client.end());
  std::sort(rest.begin(), rest.end());
  available = std::move(rest);
  return clients;
}

}  // namespace

Partition draw_partition(const Partitioner& partitioner, const PartitionRequest& request,
                         std::int64_t balanced) {
  if (balanced == 0) return partitioner.draw(request);
  check(partitioner, request, balanced);
  PartitionRequest rest = request;
  auto clients = take_shares(rest.available, request, balanced);
  check_share(clients.front(), request, balanced);
  rest.clients -= balanced;
  Partition partition = partitioner.draw(rest);
  partition.notes.push_back(
      setting(balanced) + ": " + (balanced == 1 ? "client 0 has" : "the first clients have") + " " +
      std::to_string(clients.front().size()) + " samples" + (balanced == 1 ? ", " : " each, ") +
      "an equal share of every class; the scheme divides the rest");
  clients.insert(clients.end(), std::make_move_iterator(partition.clients.begin()),
                 std::make_move_iterator(partition.clients.end()));
  partition.clients = std::move(clients);
  return partition;
}

}  // namespace fedvg
