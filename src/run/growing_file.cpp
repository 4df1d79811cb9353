#include "run/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "fedvg/error.h"
#include "run/write_all.h"

namespace fedvg {

GrowingFile::GrowingFile(const std::filesystem::path& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) cannot_write(path_, errno);
}

GrowingFile::GrowingFile(const std::filesystem::path& path, std::int64_t size)
    : path_(path), size_(size) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) cannot_write(path_, errno);
  struct stat there = {};
  if (::fstat(descriptor_, &there) == 0 && there.st_size < size) {
    ::close(descriptor_);
    throw RunError(path.string() + ": shorter than the checkpoint says: lines are missing");
  }
  if (::ftruncate(descriptor_, size) == 0) return;
  const int error = errno;
  ::close(descriptor_);
  cannot_write(path_, error);
}

GrowingFile::~GrowingFile() { ::close(descriptor_); }

void GrowingFile::append(std::string_view piece) {
  if (const int error = write_all(descriptor_, std::as_bytes(std::span(piece)))) {
    cut_to(size_);
    cannot_write(path_, error);
  }
  size_ += static_cast<std::int64_t>(piece.size());
}

void GrowingFile::cut_to(std::int64_t size) noexcept {
  if (::ftruncate(descriptor_, size) == 0) size_ = size;
}

void GrowingFile::sync() {
  if (::fsync(descriptor_) != 0) cannot_write(path_, errno);
}

}  // namespace fedvg
