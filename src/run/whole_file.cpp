#include "run/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "run/write_all.h"

namespace fedvg {

WholeFile::WholeFile(const std::filesystem::path& path)
    : path_(path), temporary_(path.string() + ".part") {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) cannot_write(path_, errno);
}

WholeFile::~WholeFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void WholeFile::append(std::span<const std::byte> bytes) {
  if (const int error = write_all(descriptor_, bytes)) cannot_write(path_, error);
}

void WholeFile::append(std::string_view text) { append(std::as_bytes(std::span(text))); }

void WholeFile::commit() {
  if (::fsync(descriptor_) != 0) cannot_write(path_, errno);
  const int closing = descriptor_;
  descriptor_ = -1;
  if (::close(closing) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    cannot_write(path_, error);
  }
  // The new name is the folder's content: without this a crash may bring the old one back.
  const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0) {
    ::fsync(opened);
    ::close(opened);
  }
}

void write_whole_file(const std::filesystem::path& path, std::string_view text) {
  WholeFile file(path);
  file.append(text);
  file.commit();
}

}  // namespace fedvg
