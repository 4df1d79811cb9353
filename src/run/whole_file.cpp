#include "run/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "fedvg/error.h"

namespace fedvg {

WholeFile::WholeFile(const std::filesystem::path& path)
    : path_(path), temporary_(path.string() + ".part") {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(errno);
}

WholeFile::~WholeFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void WholeFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void WholeFile::append(std::string_view text) { append(std::as_bytes(std::span(text))); }

void WholeFile::commit() {
  if (::fsync(descriptor_) != 0) fail(errno);
  const int closing = descriptor_;
  descriptor_ = -1;
  if (::close(closing) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    fail(error);
  }
  // The new name is the folder's content: without this a crash may bring the old one back.
  const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0) {
    ::fsync(opened);
    ::close(opened);
  }
}

void WholeFile::fail(int error) {
  throw RunError(path_.string() + ": cannot be written: " + std::generic_category().message(error));
}

void write_whole_file(const std::filesystem::path& path, std::string_view text) {
  WholeFile file(path);
  file.append(text);
  file.commit();
}

}  // namespace fedvg
