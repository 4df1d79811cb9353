#pragma once

#include <sys/resource.h>

#include <csignal>

namespace fedvg {

/// While one lives no file grows beyond so many bytes, and write() fails as on a full disk, after
/// a part of the bytes: a limit on the size of files, whose signal is ignored.
class DiskOf {
 public:
  explicit DiskOf(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~DiskOf() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  DiskOf(const DiskOf&) = delete;
  DiskOf& operator=(const DiskOf&) = delete;

 private:
  rlimit before_ = {};
  void (*handler_)(int) = nullptr;
};

}  // namespace fedvg
