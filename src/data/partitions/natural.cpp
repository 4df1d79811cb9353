// By nature: a client is whoever the data set says a sample belongs to (a writer of FEMNIST, a
// hospital; Caldas et al., 2018, arXiv 1812.01097).
//
//   client k = samples whose owner is the k-th name in order: numbers by value where all owners
//   are numbers, otherwise by their bytes

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "data/wording.h"
#include "fedvg/error.h"
#include "fedvg/partition.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct NaturalOptions {
  std::string column;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("column", &NaturalOptions::column,
          "what says whose a sample is: a column of a table, an array of an archive, a level of "
          "an image folder; as the data set's own options say");
  }
};

std::optional<double> number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end || std::isnan(value)) return std::nullopt;
  return value;
}

// The different owners, in the order of the clients.
std::vector<std::string> names_of(std::span<const std::string> owners) {
  const std::set<std::string> different(owners.begin(), owners.end());
  std::vector<std::pair<double, std::string>> by_value;
  for (const std::string& name : different) {
    const auto value = number(name);
    if (!value) return {different.begin(), different.end()};
    by_value.emplace_back(*value, name);
  }
  std::sort(by_value.begin(), by_value.end());
  std::vector<std::string> names;
  for (auto& [value, name] : by_value) names.push_back(std::move(name));
  return names;
}

// "0 = north, 1 = south"
std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> numbered;
  for (std::size_t k = 0; k < names.size(); ++k) {
    numbered.push_back(std::to_string(k) + " = " + names[k]);
  }
  return some_of(numbered);
}

class Natural final : public Partitioner {
 public:
  explicit Natural(const NaturalOptions& options) : options_(options) {
    if (options.column.empty()) {
      throw OptionError(
          "partition.scheme = \"natural\" needs partition.column, the name of what says whose a "
          "sample is");
    }
  }

  bool drawn() const override { return false; }
  std::string owner_column() const override { return options_.column; }

  Partition draw(const PartitionRequest& request) const override {
    check(request);
    Partition partition;
    partition.names = names_of(request.owners);
    std::map<std::string_view, std::size_t> client_of;
    for (std::size_t k = 0; k < partition.names.size(); ++k) client_of[partition.names[k]] = k;
    partition.clients.resize(partition.names.size());
    for (const std::int64_t index : request.available) {
      const std::string& owner = request.owners[static_cast<std::size_t>(index)];
      partition.clients[client_of.at(owner)].push_back(index);
    }
    partition.notes.push_back(std::to_string(partition.names.size()) + " clients by \"" +
                              options_.column + "\", as it stands: " + listed(partition.names));
    return partition;
  }

 private:
  void check(const PartitionRequest& request) const {
    if (request.owners.empty()) {
      throw OptionError("partition.scheme = \"natural\": data.name = \"" + request.data.name +
                        "\" does not say whose its samples are; choose another scheme");
    }
    if (request.owners.size() != request.labels.size()) {
      throw DataError(request.data.name + ": \"" + options_.column + "\" has " +
                      std::to_string(request.owners.size()) + " entries for " +
                      std::to_string(request.labels.size()) + " samples");
    }
    const auto nobody = std::find(request.owners.begin(), request.owners.end(), "");
    if (nobody == request.owners.end()) return;
    throw DataError(request.data.name + ": \"" + options_.column + "\" is empty at sample " +
                    std::to_string(nobody - request.owners.begin()) +
                    " (counted from 0): every sample must belong to a client");
  }

  NaturalOptions options_;
};

FEDVG_REGISTER(Partitioner, "natural", Natural, NaturalOptions,
               "as the data set says, whatever min_samples and on_short are");

}  // namespace
}  // namespace fedvg
