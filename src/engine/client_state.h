#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "fedvg/layout.h"

namespace fedvg {

/// What one client keeps between its rounds.
struct ClientState {
  TensorMap correction;  ///< SCAFFOLD's c_k, FedDyn's h_k, MOON's previous model
  TensorMap optimizer;   ///< where it is kept between rounds
  Tensors buffers;       ///< where they are local

  ClientState to(at::Device device) const;
  bool empty() const { return correction.empty() && optimizer.empty() && buffers.empty(); }
};

/// States of all clients that ever took part, by client and round.
///
/// A worker puts a client's new state at once; the end of the round publishes the states
/// of the clients whose updates were accepted, a void round drops them all. Beyond
/// `memory` bytes the states that were used least recently wait on disk, in a folder that
/// is made when first needed, so that memory depends on the participants of a round and
/// not on the clients known. Safe for several threads.
class ClientStateStore {
 public:
  /// `folder` may be empty: a new one under the system's folder for temporary files.
  ClientStateStore(std::int64_t memory, std::filesystem::path folder);
  ~ClientStateStore();  ///< removes what it wrote
  ClientStateStore(const ClientStateStore&) = delete;
  ClientStateStore& operator=(const ClientStateStore&) = delete;

  /// The published state; empty for a client that has none.
  ClientState get(std::int64_t client);
  /// The round in which the published state was made; 0: there is none.
  std::int64_t version(std::int64_t client) const;
  /// A state of this round, not visible before it is published. Throws RunError when the
  /// disk does not take it.
  void put(std::int64_t client, std::int64_t round, const ClientState& state);
  void publish(std::int64_t round, const std::set<std::int64_t>& accepted);
  void drop(std::int64_t round);

  std::int64_t bytes_in_memory() const;
  std::int64_t bytes_on_disk() const;

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  ///< client, round
  struct Entry {
    ClientState state;  ///< empty while on disk
    std::int64_t bytes = 0;
    bool on_disk = false;
    std::list<Key>::iterator use;  ///< place in recent_, while in memory
  };

  std::filesystem::path file_of(const Key& key) const;
  void remember(const Key& key, ClientState state, std::int64_t bytes);
  void forget(const Key& key);
  void make_folder();
  void spill();

  mutable std::mutex mutex_;
  std::int64_t memory_;
  std::filesystem::path folder_;
  bool made_folder_ = false;
  std::map<Key, Entry> entries_;
  std::map<std::int64_t, std::int64_t> published_;          ///< client: round
  std::map<std::int64_t, std::set<std::int64_t>> pending_;  ///< round: clients
  std::list<Key> recent_;                                   ///< least recently used first
  std::int64_t in_memory_ = 0, on_disk_ = 0;
};

}  // namespace fedvg
