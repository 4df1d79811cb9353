#pragma once

#include <filesystem>

namespace fedvg {

/// The sole right to work in a folder, held while one lives: a file `.lock` there, with the
/// number of the process, that the system unlocks however the process ends (flock). What a dead
/// process left behind counts for nothing. Not passed on to programs that are started. Where
/// the file system knows no locks there is none.
class FolderLock {
 public:
  /// The folder must exist. Throws RunError when somebody has the lock, also this process:
  /// "X: another process (pid N) works in this folder; …"; and when X cannot be written to.
  explicit FolderLock(const std::filesystem::path& folder);
  /// Removes the file.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Whether somebody has the lock at the moment. Leaves the folder as it is.
  static bool taken(const std::filesystem::path& folder);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace fedvg
