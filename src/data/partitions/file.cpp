// A partition that somebody else made, or an earlier run: data/partition_file.h.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/partition_file.h"
#include "fedvg/error.h"
#include "fedvg/partition.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct FileOptions {
  std::string file;
  std::string column;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("file", &FileOptions::file, FilePath{},
          "JSON: a list of the clients' lists of samples, or {\"clients\": [...], "
          "\"validation\": [...]}, a run's partition.json");
    visit("column", &FileOptions::column,
          "scheme natural's: data that say whose a sample is are read as it reads them, but "
          "divided as the file says; empty: they are read without");
  }
};

// Training samples that are in no list of the file.
std::int64_t left_out(const Partition& partition, std::int64_t samples) {
  std::vector<bool> named(static_cast<std::size_t>(samples));
  const auto mark = [&](const IndexList& list) {
    for (const std::int64_t index : list) named[static_cast<std::size_t>(index)] = true;
  };
  for (const auto& client : partition.clients) mark(client);
  if (partition.validation) mark(*partition.validation);
  if (partition.test) mark(*partition.test);
  return std::count(named.begin(), named.end(), false);
}

class FilePartition final : public Partitioner {
 public:
  explicit FilePartition(const FileOptions& options) : options_(options) {
    if (options.file.empty()) {
      throw OptionError(
          "partition.scheme = \"file\" needs partition.file, the path of a JSON file");
    }
  }

  bool drawn() const override { return false; }
  std::string owner_column() const override { return options_.column; }

  Partition draw(const PartitionRequest& request) const override {
    if (!options_.column.empty() && request.owners.empty()) {
      throw OptionError("partition.column = \"" + options_.column + "\": data.name = \"" +
                        request.data.name +
                        "\" does not say whose its samples are; leave partition.column out");
    }
    Partition partition = read_partition_file(options_.file, request.data, request.overlap);
    std::string note = "partition of " + std::to_string(partition.clients.size()) +
                       " clients taken from " + options_.file + " as it stands";
    if (const std::int64_t unused = left_out(partition, request.data.samples); unused > 0) {
      note += "; " + std::to_string(unused) + " of " + std::to_string(request.data.samples) +
              " training samples are in none of its lists";
    }
    partition.notes.push_back(std::move(note));
    return partition;
  }

 private:
  FileOptions options_;
};

FEDVG_REGISTER(Partitioner, "file", FilePartition, FileOptions,
               "as a JSON file says, whatever min_samples and on_short are");

}  // namespace
}  // namespace fedvg
