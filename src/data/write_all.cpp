#include "data/write_all.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "fedvg/error.h"

namespace fedvg {

int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

void cannot_write(const std::filesystem::path& path, int error) {
  throw RunError(path.string() + ": cannot be written: " + std::generic_category().message(error));
}

}  // namespace fedvg
