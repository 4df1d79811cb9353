#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace fedvg {

/// run.json of a run folder, which is there once a run has ended as it should.
struct RunEnd {
  std::int64_t rounds = 0;  ///< finished
  bool early = false;       ///< by train.patience

  /// That of a run of `wanted` rounds.
  bool is_of(std::int64_t wanted) const { return rounds == wanted || (early && rounds < wanted); }
};

/// Its content.
std::string text_of(const RunEnd& end);
/// Absent: there is none, or it says that the run has not ended. Throws DataError when it is
/// damaged.
std::optional<RunEnd> read_run_end(const std::filesystem::path& run);
/// Whether the run has ended with the rounds of a run of `wanted` ones, and what it leaves, tables
/// and model, is there. Throws what read_run_end() throws.
bool has_ended(const std::filesystem::path& run, std::int64_t wanted);
std::filesystem::path run_end_file(const std::filesystem::path& run);

}  // namespace fedvg
