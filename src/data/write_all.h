#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace fedvg {

/// Writes all of `bytes`, in as many calls as it takes. Returns 0, or the errno of what went
/// wrong (ENOSPC where the system took nothing without saying why).
int write_all(int descriptor, std::span<const std::byte> bytes);

/// Throws RunError: the file, and the system's reason.
[[noreturn]] void cannot_write(const std::filesystem::path& path, int error);

}  // namespace fedvg
