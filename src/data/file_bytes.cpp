#include "data/file_bytes.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string_view>

#include "fedvg/error.h"

namespace fedvg {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  const char* what;
};

constexpr Signature signatures[] = {
    {0, "\x1f\x8b"sv, "gzip data"},
    {0, "PK\x03\x04"sv, "a zip archive"},
    {0, "PK\x05\x06"sv, "an empty zip archive"},
    {257, "ustar"sv, "a tar archive"},
    {0, "BZh"sv, "bzip2 data"},
    {0, "\xfd\x37zXZ\x00"sv, "xz data"},
    {0, "\x28\xb5\x2f\xfd"sv, "zstd data"},
    {0, "7z\xbc\xaf"sv, "a 7z archive"},
    {0, "\x89PNG"sv, "a PNG image"},
    {0, "\xff\xd8\xff"sv, "a JPEG image"},
    {0, "GIF8"sv, "a GIF image"},
    {8, "WEBPVP8"sv, "a WebP image"},
    {0, "II*\x00"sv, "a TIFF image"},
    {0, "MM\x00*"sv, "a TIFF image"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "\x89HDF"sv, "an HDF5 file"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer (run git lfs pull)"},
};

bool is_text(std::span<const std::uint8_t> start) {
  return std::all_of(start.begin(), start.end(), [](std::uint8_t byte) {
    return byte == '\n' || byte == '\r' || byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

bool is_markup(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

}  // namespace

std::uintmax_t file_bytes(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw DataError(path.string() + " does not exist");
  if (!std::filesystem::is_regular_file(status)) {
    throw DataError(path.string() + " is not a regular file");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw DataError(path.string() + " cannot be read: " + error.message());
  return size;
}

std::vector<std::uint8_t> read_file_bytes(const std::filesystem::path& path) {
  const std::uintmax_t size = file_bytes(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError(path.string() + " cannot be read: " + std::strerror(errno));
  std::vector<std::uint8_t> bytes(size);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (file.gcount() != static_cast<std::streamsize>(size)) {
    throw DataError(path.string() + " cannot be read: only " + std::to_string(file.gcount()) +
                    " of its " + std::to_string(size) + " bytes came");
  }
  return bytes;
}

std::string describe_content(std::span<const std::uint8_t> start) {
  if (start.empty()) return "empty";
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  for (const auto& [offset, bytes, what] : signatures) {
    if (offset < text.size() && text.substr(offset).starts_with(bytes)) return what;
  }
  if (is_text(start)) return is_markup(text) ? "a web page or XML" : "text";
  std::string bytes = "unknown data starting with";
  constexpr const char* digits = "0123456789abcdef";
  for (const std::uint8_t byte : start.first(std::min<std::size_t>(start.size(), 4))) {
    bytes += {' ', digits[byte >> 4], digits[byte & 15]};
  }
  return bytes;
}

std::string describe_file(const std::filesystem::path& path) {
  std::vector<std::uint8_t> start(512);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(start.data()), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return describe_content(start);
}

}  // namespace fedvg
