#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "data/content_hash.h"

namespace fedvg {

/// What a file begins with: how many bytes, and a hash of them by which they are known again,
/// however many pieces they came in.
struct FileBegin {
  std::int64_t size = 0;
  std::uint64_t hash = ContentHash().state();

  void add(std::string_view bytes);
  bool operator==(const FileBegin&) const = default;
};

/// The first `size` bytes of a file as they are now; fewer where it is shorter. Throws DataError
/// when it cannot be read.
FileBegin begin_of(const std::filesystem::path& path, std::int64_t size);

/// A file that grows by whole pieces (the lines of a round). Each piece reaches the
/// system before append() returns; one that does not fit is taken back, so that the
/// file never ends within a piece. Throws RunError naming the file and the reason.
class GrowingFile {
 public:
  /// Creates the file; one that is there already is an error.
  explicit GrowingFile(const std::filesystem::path& path);
  /// Goes on with one that is there, behind `begin`, which its bytes are (begin_of()); what
  /// follows is cut off. One that is shorter is an error.
  GrowingFile(const std::filesystem::path& path, const FileBegin& begin);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  void append(std::string_view piece);

  /// All so far; cut_to() takes back what was appended since.
  const FileBegin& content() const { return content_; }
  void cut_to(const FileBegin& before) noexcept;

  /// Onto the disk: what was appended survives a crash of the machine.
  void sync();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  FileBegin content_;
};

}  // namespace fedvg
