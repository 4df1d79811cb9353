#include "run/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <string>
#include <thread>

#include "data/write_all.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = ".lock";

// 0, or the errno of what went wrong: EWOULDBLOCK where somebody has it.
int lock(int descriptor, int how) {
  while (::flock(descriptor, how | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Somebody who only looks whether the lock is taken has it for an instant.
int lock_in_a_moment(int descriptor) {
  int error = lock(descriptor, LOCK_EX);
  for (int i = 0; i < 10 && error == EWOULDBLOCK; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    error = lock(descriptor, LOCK_EX);
  }
  return error;
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
    const int error = lock_in_a_moment(opened);
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
  const bool somebody = lock(opened, LOCK_SH) == EWOULDBLOCK;
  ::close(opened);
  return somebody;
}

}  // namespace fedvg
