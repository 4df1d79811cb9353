#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace fedvg {

/// The whole of a regular file. Throws DataError naming it when it is missing, not a
/// regular file, or cannot be read.
std::vector<std::uint8_t> read_file_bytes(const std::filesystem::path& path);

/// What a file seems to be, judged by its first bytes, for messages: "a zip archive",
/// "a web page", "text", "unknown data starting with 12 34 …". 512 bytes are enough.
std::string describe_content(std::span<const std::uint8_t> start);
/// The same of a file, by its content; one that cannot be read is "empty".
std::string describe_file(const std::filesystem::path& path);

/// Bytes of a regular file. Throws DataError naming it when it is none or missing.
std::uintmax_t file_bytes(const std::filesystem::path& path);

}  // namespace fedvg
