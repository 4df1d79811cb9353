#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/client_version.h"
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
/// not on the clients known. A state has a file of its own, which is written once; a
/// checkpoint only names them (save, keep, restore). Safe for several threads.
class ClientStateStore {
 public:
  /// `folder` may be empty: a new one under the system's folder for temporary files.
  ClientStateStore(std::int64_t memory, std::filesystem::path folder);
  ~ClientStateStore();  ///< removes what it wrote, but for what keep() names
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

  /// Between two rounds: puts a file of every published state onto the disk, synced, and says
  /// which they are, by client. Throws RunError when the disk does not take one.
  std::vector<ClientVersion> save();
  /// The states that checkpoints name: their files stay when clients have newer ones, and when
  /// the store ends. Those that were named before, and are not now, go once nobody needs them.
  void keep(const std::vector<ClientVersion>& named);
  /// Takes up states that save() wrote, in place of all that the store knows, and removes files
  /// of states that are neither among them nor kept (of rounds that nothing remembers). Throws
  /// DataError, the store being empty then, when a file is missing or too short.
  void restore(const std::vector<ClientVersion>& versions);

  std::int64_t bytes_in_memory() const;
  std::int64_t bytes_on_disk() const;

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  ///< client, round
  struct Entry {
    ClientState state;  ///< empty while on disk
    std::int64_t bytes = 0;
    bool in_memory = true;
    bool has_file = false;
    bool is_synced = false;        ///< the file
    std::list<Key>::iterator use;  ///< place in recent_, while in memory
  };

  std::filesystem::path file_of(const Key& key) const;
  void remember(const Key& key, ClientState state, std::int64_t bytes);
  void forget(const Key& key);
  void forget_all();
  /// Unless a checkpoint names it.
  void remove_file(const Key& key);
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
  std::set<Key> kept_;                                      ///< that checkpoints name
  std::int64_t in_memory_ = 0, on_disk_ = 0;
};

}  // namespace fedvg
