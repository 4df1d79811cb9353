#include "run/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "data/write_all.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

// Where a chain of symbolic links ends, also when nothing is there yet.
fs::path followed(fs::path path) {
  std::error_code error;
  while (fs::is_symlink(path, error)) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return path;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Of what is there and cannot be replaced, for writing; -1: a regular file that can be. Standard
// output and error are not opened anew (/dev/stdout): that would write from their beginning.
int opened_as_it_is(const fs::path& path, const struct stat& there) {
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream = {};
    if (::fstat(standard, &stream) != 0 || !same_file(stream, there)) continue;
    const int copy = ::fcntl(standard, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) cannot_write(path, errno);
    return copy;
  }
  if (S_ISREG(there.st_mode)) return -1;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(path, errno);  // a folder, too
  return descriptor;
}

}  // namespace

WholeFile::WholeFile(const fs::path& path) : path_(path) {
  struct stat there = {};
  if (::stat(path.c_str(), &there) == 0) {
    descriptor_ = opened_as_it_is(path, there);
  } else if (errno == ELOOP) {
    cannot_write(path, ELOOP);
  }
  if (descriptor_ >= 0) return;
  target_ = followed(path);
  open_temporary();
}

// Under a name that nobody has: somebody's own file may be called so.
void WholeFile::open_temporary() {
  for (int i = 0; i < 1000; ++i) {
    temporary_ = target_.string() + (i == 0 ? "" : "." + std::to_string(i)) + ".part";
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) return;
    if (errno != EEXIST) break;
  }
  cannot_write(path_, errno);
}

WholeFile::~WholeFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void WholeFile::append(std::span<const std::byte> bytes) {
  if (const int error = write_all(descriptor_, bytes)) cannot_write(path_, error);
}

void WholeFile::append(std::string_view text) { append(std::as_bytes(std::span(text))); }

void WholeFile::commit() {
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) cannot_write(path_, errno);
  const int closing = descriptor_;
  descriptor_ = -1;
  const bool closed = ::close(closing) == 0;
  if (temporary_.empty()) {
    if (!closed) cannot_write(path_, errno);
    return;
  }
  if (!closed || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    cannot_write(path_, error);
  }
  sync_folder(target_.has_parent_path() ? target_.parent_path() : fs::path("."));
}

void sync_folder(const fs::path& folder) {
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

std::string text_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_whole_file(const fs::path& path, std::string_view text) {
  WholeFile file(path);
  file.append(text);
  file.commit();
}

}  // namespace fedvg
