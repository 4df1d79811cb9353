#include "data/fingerprint.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace fedvg {
namespace {

class Hash {
 public:
  void add(std::uint64_t word) {
    state_ = std::rotl(state_ ^ (word * 0x9e3779b97f4a7c15u), 29) * 0xd6e8feb86659fd93u;
  }
  // Little-endian words of 8 bytes, the last one filled with zeros, then the length.
  void add(std::span<const std::uint8_t> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
      add(word);
    }
    add(bytes.size());
  }
  std::uint64_t value() const {
    std::uint64_t x = (state_ ^ (state_ >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
  }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1du;
};

}  // namespace

std::vector<std::uint64_t> image_hashes(const Samples& samples) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(samples.labels.size());
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    Hash hash;
    hash.add(samples.image(i));
    hashes.push_back(hash.value());
  }
  return hashes;
}

std::string fingerprint(const Samples& samples, std::span<const std::uint64_t> hashes) {
  Hash hash;
  for (const std::int64_t extent : {samples.channels, samples.height, samples.width}) {
    hash.add(static_cast<std::uint64_t>(extent));
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    hash.add(hashes[i]);
    hash.add(static_cast<std::uint64_t>(samples.labels[i]));
  }
  std::string digits(16, '0');
  std::uint64_t rest = hash.value();
  for (std::size_t at = digits.size(); at-- > 0; rest >>= 4) {
    digits[at] = "0123456789abcdef"[rest & 15];
  }
  return digits;
}

}  // namespace fedvg
