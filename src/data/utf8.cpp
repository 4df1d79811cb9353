#include "data/utf8.h"

#include <cstdint>

#include "fedvg/error.h"

namespace fedvg {
namespace {

std::uint32_t byte_of(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Bytes of the character at `at`, 0 when there is none.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const std::uint32_t first = byte_of(text, at);
  if (first < 0x80) return 1;
  const std::size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (bytes == 0 || first > 0xf4 || bytes > text.size() - at) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_of(text, at + i) & 0xc0) != 0x80) return 0;
  }
  const std::uint32_t second = byte_of(text, at + 1);
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return wrong ? 0 : bytes;
}

// C0, delete and C1.
bool is_control(std::string_view character) {
  const std::uint32_t first = byte_of(character, 0);
  return first < 0x20 || first == 0x7f || (first == 0xc2 && byte_of(character, 1) < 0xa0);
}

}  // namespace

std::size_t first_not_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t bytes = character_bytes(text, at);
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

std::string escaped(std::string_view text) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string shown;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text, 0);
    const std::string_view character = text.substr(0, bytes == 0 ? 1 : bytes);
    text.remove_prefix(character.size());
    if (bytes > 0 && !is_control(character)) {
      shown += character;
      continue;
    }
    for (std::size_t i = 0; i < character.size(); ++i) {
      const std::uint32_t byte = byte_of(character, i);
      shown += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return shown;
}

void check_name(const std::string& name, const std::string& place, const std::string& todo) {
  const std::string shown = escaped(name);
  if (shown == name) return;
  const bool utf8 = first_not_utf8(name) == std::string_view::npos;
  throw DataError(place + " \"" + shown + "\", which " +
                  (utf8 ? "has control characters" : "is not UTF-8") + "; " + todo);
}

}  // namespace fedvg
