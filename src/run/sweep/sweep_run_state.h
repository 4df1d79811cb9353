#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

// How far a run of a sweep is, seen from outside.

namespace fedvg {

/// Whether the folder holds the finished run of so many rounds that `config` plans: its run.json
/// says so, rounds.csv and model are there, and its config.toml agrees in all but what may_change()
/// (checkpoints/resume.h), and partition.clients where the partition brings its own.
bool is_finished_run(const std::filesystem::path& folder, const std::string& config,
                     std::int64_t rounds);

/// What keeps `fedvg run --resume` from going on with what is in the folder, in a few words, as far
/// as it is seen without the data and without a lock: "another train.epochs". Empty: nothing does,
/// or nothing is there.
std::string obstacle_in(const std::filesystem::path& folder, const std::string& config,
                        std::int64_t rounds);

/// test_accuracy of the last round that measured it. Nothing where there is none to be read.
std::optional<double> final_accuracy(const std::filesystem::path& folder);

/// Counts the rounds of a run while it goes on.
class RoundCounter {
 public:
  explicit RoundCounter(const std::filesystem::path& folder) : path_(folder / "rounds.csv") {}
  /// Finished rounds by now. Reads what is new; may fall when the run was taken up further back.
  std::int64_t count();

 private:
  std::filesystem::path path_;
  std::int64_t size_ = 0, lines_ = 0;
};

}  // namespace fedvg
