#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fedvg {

/// What lies directly in a folder of a data set of images; names, sorted.
struct FolderContent {
  std::vector<std::string> folders;
  std::vector<std::string> images;   ///< .png, .jpg, .jpeg, .jpe, .jfif in any case
  std::vector<std::string> skipped;  ///< other files, and folders that tools leave (.git, …)

  bool has_folder(const std::string& name) const;
};

/// Throws DataError when the folder cannot be read, or holds images of another format
/// (.bmp, .gif, .tiff, .webp, …): left out silently they would be missed.
FolderContent folder_content(const std::filesystem::path& folder);

/// Throws DataError unless `path` is a folder; says what it is instead (an archive), and
/// that `expected` ("the folder of …") is what data.path should be.
void require_folder(const std::filesystem::path& path, const std::string& expected);

/// "2 files that are no images were skipped: Thumbs.db, a.txt"; at most three are named.
std::string skipped_note(const std::vector<std::string>& names);

}  // namespace fedvg
