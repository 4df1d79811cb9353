#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace fedvg {

/// A file that appears whole or not at all: written under another name in the same
/// folder, synced to the disk, then renamed over what was there. A symbolic link stays, and
/// what it leads to is replaced. What is there but no regular file (a pipe, a device), and
/// standard output and error under any name, is written through as it is. Throws RunError
/// naming the file and the system's reason (a full disk, no permission, a folder).
class WholeFile {
 public:
  explicit WholeFile(const std::filesystem::path& path);
  /// Without commit() before: leaves what was there before, if anything.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text);
  /// After it the file survives a crash of the machine.
  void commit();

 private:
  void open_temporary();

  std::filesystem::path path_;       // as named, for messages
  std::filesystem::path target_;     // with links followed
  std::filesystem::path temporary_;  // empty: written through
  int descriptor_ = -1;
};

/// The names in a folder onto the disk: without it a crash of the machine may bring old ones back.
/// Where the file system cannot, it is left to it.
void sync_folder(const std::filesystem::path& folder);

/// The bytes of a file; empty when it is missing or cannot be read.
std::string text_in(const std::filesystem::path& path);

/// The whole of `text` as a file.
void write_whole_file(const std::filesystem::path& path, std::string_view text);

}  // namespace fedvg
