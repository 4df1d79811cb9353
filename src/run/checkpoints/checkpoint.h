#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/federation.h"

namespace fedvg {

/// A run between two rounds, all that is needed to go on (docs/formats.md has the file).
struct Checkpoint {
  std::int64_t round = 0;  ///< finished
  std::int64_t best = 0;   ///< the best round, whose model is kept beside; 0: none
  std::string progress;    ///< JSON: what the run itself knows (run_progress.h)
  FederationState federation;
};

/// The folder `checkpoints` of a run: the latest checkpoints and the models of the best rounds
/// that they name. Each file is whole or absent, and knows when it is damaged (sealed_file.h).
class CheckpointFolder {
 public:
  /// `keep` latest ones, at least 1. Creates nothing.
  CheckpointFolder(std::filesystem::path folder, std::int64_t keep);

  /// Looks through what is there: the rounds of those that are whole, newest first; of others
  /// `damaged` is told. Throws RunError where something cannot be looked at, or is of another
  /// version of fedvg: it may be whole.
  std::vector<std::int64_t> whole_ones(const std::function<void(const std::string&)>& damaged);
  /// The checkpoint of a round. Throws DataError when it is damaged.
  Checkpoint read(std::int64_t round) const;

  /// Writes one, then removes those beyond `keep`, and any later than it. `best_model`: asked for
  /// when no kept checkpoint names the model of its best round yet. Throws RunError when something
  /// cannot be written; what was there before is whole then.
  void write(const Checkpoint& checkpoint,
             const std::function<std::vector<NamedArray>()>& best_model,
             const std::map<std::string, std::string>& best_metadata);

  /// Sets the checkpoints aside that name a state of a client which is damaged: *.damaged.
  void set_aside(const ClientVersion& damaged);

  /// The model of a best round that a checkpoint names.
  TensorFile read_best(std::int64_t round) const;
  /// Clients' states that the kept checkpoints name.
  const std::vector<ClientVersion>& clients() const { return clients_; }

 private:
  struct Kept {
    std::int64_t round, best;
    std::vector<ClientVersion> clients;
  };
  std::filesystem::path file_of(std::int64_t round) const;
  std::filesystem::path best_file_of(std::int64_t round) const;
  void take_stock(std::vector<Kept> kept);

  std::filesystem::path folder_;
  std::size_t keep_;
  std::vector<Kept> kept_;              // newest first
  std::vector<ClientVersion> clients_;  // of all of them, each once
};

}  // namespace fedvg
