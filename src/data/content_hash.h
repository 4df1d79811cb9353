#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace fedvg {

/// 64 bits that change with anything that is added, and with its order. Not cryptographic.
class ContentHash {
 public:
  ContentHash() = default;
  /// Goes on from the state() of another one.
  explicit ContentHash(std::uint64_t state) : state_(state) {}
  std::uint64_t state() const { return state_; }

  void add(std::uint64_t word) {
    state_ = std::rotl(state_ ^ (word * 0x9e3779b97f4a7c15u), 29) * 0xd6e8feb86659fd93u;
  }
  /// Little-endian words of 8 bytes, the last one filled with zeros, then the length.
  void add(std::span<const std::uint8_t> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
      add(word);
    }
    add(bytes.size());
  }
  void add_text(std::string_view text) {
    add(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }

  std::uint64_t value() const {
    std::uint64_t x = (state_ ^ (state_ >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
  }
  /// value() in 16 hexadecimal digits.
  std::string digits() const {
    std::string text(16, '0');
    std::uint64_t rest = value();
    for (std::size_t at = text.size(); at-- > 0; rest >>= 4) {
      text[at] = "0123456789abcdef"[rest & 15];
    }
    return text;
  }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1du;
};

}  // namespace fedvg
