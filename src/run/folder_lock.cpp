#include "run/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string>

#include "fedvg/error.h"
#include "run/write_all.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = ".lock";

// 0, or the errno of what went wrong: EWOULDBLOCK where somebody has it.
int lock(int descriptor) {
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

bool without_locks(int error) {
  return error == ENOLCK || error == ENOSYS || error == ENOTSUP || error == EINVAL;
}

// The one who had the lock before may have removed the file in between.
bool still_named(int descriptor, const fs::path& path) {
  struct stat locked = {}, named = {};
  return ::fstat(descriptor, &locked) == 0 && ::stat(path.c_str(), &named) == 0 &&
         locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

[[noreturn]] void refuse(const fs::path& folder, int descriptor) {
  std::array<char, 32> text = {};
  const auto size = ::pread(descriptor, text.data(), text.size(), 0);
  std::string number(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  number.resize(std::min(number.find_first_not_of("0123456789"), number.size()));
  ::close(descriptor);
  throw RunError(folder.string() + ": another process" +
                 (number.empty() ? "" : " (pid " + number + ")") +
                 " works in this folder; wait until it ends, or stop it");
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) : path_(folder / kName) {
  while (true) {
    const int opened = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (opened < 0) cannot_write(path_, errno);
    const int error = lock(opened);
    if (error == EWOULDBLOCK) refuse(folder, opened);
    if (error != 0 && !without_locks(error)) {
      ::close(opened);
      cannot_write(path_, error);
    }
    if (error != 0 || still_named(opened, path_)) {
      descriptor_ = opened;
      break;
    }
    ::close(opened);
  }
  // For people; on a full disk the lock holds without it.
  const std::string number = std::to_string(::getpid()) + "\n";
  [[maybe_unused]] const bool cut = ::ftruncate(descriptor_, 0) == 0;
  write_all(descriptor_, std::as_bytes(std::span(number)));
}

FolderLock::~FolderLock() {
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

bool FolderLock::taken(const fs::path& folder) {
  const int opened = ::open((folder / kName).c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) return false;
  const bool somebody = lock(opened) == EWOULDBLOCK;
  ::close(opened);
  return somebody;
}

}  // namespace fedvg
