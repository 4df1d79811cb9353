#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fedvg {

/// Positions in the training set, from 0, in file order.
using IndexList = std::vector<std::int64_t>;

/// Which training set a list of indexes counts; data.split = "pooled": training and test set.
struct DataIdentity {
  std::string name;          ///< the data set's
  std::int64_t samples = 0;  ///< of the training set
  std::string fingerprint;   ///< of its pixels and labels; data/fingerprint.h
};

/// What is to be divided, and how.
struct PartitionRequest {
  std::span<const std::int64_t> labels{};  ///< of the whole training set, in [0, classes)
  std::span<const std::string> owners{};   ///< whose each sample is, beside labels; or empty
  std::int64_t classes = 0;
  IndexList available;  ///< what clients may get, ascending: all but a drawn D_val
  DataIdentity data{};
  std::int64_t clients = 0;      ///< > 0
  std::int64_t min_samples = 0;  ///< smallest client that is accepted
  bool refuse_short = false;     ///< a client below it is an error, else repaired
  bool overlap = false;          ///< clients may share samples (partition files only)
  std::uint64_t seed = 0;
};

struct Partition {
  std::vector<IndexList> clients;       ///< ascending when drawn; a file's as it gives them
  std::optional<IndexList> validation;  ///< D_val, when the scheme brings its own
  std::optional<IndexList> test;        ///< likewise, in a file of a pooled run
  std::vector<std::string> names;       ///< the clients', where they have any; else empty
  std::vector<std::string> notes;       ///< to be said at start: repaired samples, …
};

/// Divides a training set among clients. A scheme is one file in src/data/partitions/
/// that ends in
///
///     FEDVG_REGISTER(Partitioner, "iid", Iid, NoOptions, "one line of help");
///
/// and is chosen by `partition.scheme`; its options stand beside it in [partition].
/// Every draw comes from Random(seed, "partition"). data/minimum.h does the part that
/// all drawn schemes share: bounded redrawing, repair, refusal.
class Partitioner {
 public:
  static constexpr const char* kind = "partition";
  virtual ~Partitioner() = default;

  /// Throws OptionError (a minimum that cannot hold, a missing option) or DataError (a
  /// partition file that does not fit).
  virtual Partition draw(const PartitionRequest& request) const = 0;
  /// false: the clients are taken as they are given. Their number, min_samples and on_short
  /// of the request do not apply, and partition.balanced is refused.
  virtual bool drawn() const { return true; }
  /// What the reader is asked for as PartitionRequest::owners (ReadRequest::owner_column);
  /// empty: nothing.
  virtual std::string owner_column() const { return {}; }
};

}  // namespace fedvg
