#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace fedvg {

/// A file that grows by whole pieces (the lines of a round). Each piece reaches the
/// system before append() returns; one that does not fit is taken back, so that the
/// file never ends within a piece. Throws RunError naming the file and the reason.
class GrowingFile {
 public:
  /// Creates the file; one that is there already is an error.
  explicit GrowingFile(const std::filesystem::path& path);
  /// Goes on with one that is there, behind its first `size` bytes; what follows them is cut off.
  /// One that is shorter is an error.
  GrowingFile(const std::filesystem::path& path, std::int64_t size);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  void append(std::string_view piece);

  /// Bytes so far; cut_to() takes back what was appended since.
  std::int64_t size() const { return size_; }
  void cut_to(std::int64_t size) noexcept;

  /// Onto the disk: what was appended survives a crash of the machine.
  void sync();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace fedvg
