#include "run/growing_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "fedvg/error.h"

namespace fedvg {

GrowingFile::GrowingFile(const std::filesystem::path& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(errno);
}

GrowingFile::~GrowingFile() { ::close(descriptor_); }

void GrowingFile::append(std::string_view piece) {
  std::string_view rest = piece;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      cut_to(size_);
      fail(error);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += static_cast<std::int64_t>(piece.size());
}

void GrowingFile::cut_to(std::int64_t size) noexcept {
  if (::ftruncate(descriptor_, size) == 0) size_ = size;
}

void GrowingFile::sync() {
  if (::fsync(descriptor_) != 0) fail(errno);
}

void GrowingFile::fail(int error) const {
  throw RunError(path_.string() + ": cannot be written: " + std::generic_category().message(error));
}

}  // namespace fedvg
