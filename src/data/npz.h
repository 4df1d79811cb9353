#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/npy.h"

namespace fedvg {

/// A file of named NumPy arrays, as np.savez and np.savez_compressed write it: a zip archive
/// whose members are KEY.npy.
class NpzFile {
 public:
  /// Throws DataError naming the file when it is missing, something else (saying what),
  /// damaged, or holds no array or one twice.
  explicit NpzFile(const std::filesystem::path& path);
  ~NpzFile();
  NpzFile(const NpzFile&) = delete;
  NpzFile& operator=(const NpzFile&) = delete;

  /// In the order of the file; members that are no arrays are left out.
  std::vector<std::string> keys() const;
  bool has(const std::string& key) const;
  /// Throws DataError naming file and array (npy.h), also when the archive is damaged there
  /// or has no such array (naming those that it has).
  NpyArray read(const std::string& key) const;

 private:
  class Archive;
  std::string path_;
  std::unique_ptr<Archive> archive_;
};

}  // namespace fedvg
