#pragma once

#include <filesystem>

namespace fedvg {

/// Reads every member of a zip archive to its end and compares it with its checksum (CRC-32).
/// Throws DataError naming file and member when one differs or cannot be unpacked. What is no
/// zip archive is left to whoever reads it.
void check_zip(const std::filesystem::path& path);

}  // namespace fedvg
