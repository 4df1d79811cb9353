#include "data/fingerprint.h"

#include <cstddef>

#include "data/content_hash.h"

namespace fedvg {

std::vector<std::uint64_t> image_hashes(const Samples& samples) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(samples.labels.size());
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    ContentHash hash;
    hash.add(samples.image(i));
    hashes.push_back(hash.value());
  }
  return hashes;
}

std::string fingerprint(const Samples& samples, std::span<const std::uint64_t> hashes) {
  ContentHash hash;
  for (const std::int64_t extent : {samples.channels, samples.height, samples.width}) {
    hash.add(static_cast<std::uint64_t>(extent));
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    hash.add(hashes[i]);
    hash.add(static_cast<std::uint64_t>(samples.labels[i]));
  }
  return hash.digits();
}

}  // namespace fedvg
