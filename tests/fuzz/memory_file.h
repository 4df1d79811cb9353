#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace fedvg::fuzz {

/// A file without a disk, for readers that take a path: /proc/self/fd/N.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("fedvg-fuzz", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("memfd_create");
    path_ = "/proc/self/fd/" + std::to_string(file_);
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Replaces the content; returns the path, which stays the same.
  const std::string& put(std::span<const std::uint8_t> bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (ftruncate(file_, 0) != 0 || pwrite(file_, bytes.data(), bytes.size(), 0) != size) {
      throw std::runtime_error("a memory file cannot be written");
    }
    return path_;
  }

 private:
  int file_;
  std::string path_;
};

}  // namespace fedvg::fuzz
