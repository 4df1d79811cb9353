#include "data/shared_images.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "data/fingerprint.h"

namespace fedvg {
namespace {

// Some images of one Samples, by content.
class ImageSet {
 public:
  ImageSet(const Samples& samples, std::span<const std::uint64_t> hashes)
      : samples_(samples), hashes_(hashes) {}

  void add(std::int64_t index) {
    by_hash_.emplace(hashes_[static_cast<std::size_t>(index)], index);
  }
  bool contains(std::uint64_t hash, std::span<const std::uint8_t> image) const {
    const auto [first, last] = by_hash_.equal_range(hash);
    return std::any_of(first, last, [&](const auto& entry) {
      return std::ranges::equal(samples_.image(entry.second), image);
    });
  }

 private:
  const Samples& samples_;
  std::span<const std::uint64_t> hashes_;
  std::unordered_multimap<std::uint64_t, std::int64_t> by_hash_;
};

}  // namespace

std::string shared_images(const FederatedData& data,
                          std::span<const std::uint64_t> training_hashes) {
  const Samples& training = data.dataset.training;
  const Samples& test = data.dataset.test;
  ImageSet in_validation(training, training_hashes);
  for (const std::int64_t index : data.validation) in_validation.add(index);
  const auto test_hashes = image_hashes(test);
  ImageSet in_test(test, test_hashes);
  for (std::int64_t i = 0; i < test.size(); ++i) in_test.add(i);

  std::int64_t training_test = 0, training_validation = 0, validation_test = 0;
  for (const auto& client : data.clients) {
    for (const std::int64_t index : client) {
      const std::uint64_t hash = training_hashes[static_cast<std::size_t>(index)];
      training_test += in_test.contains(hash, training.image(index));
      training_validation += in_validation.contains(hash, training.image(index));
    }
  }
  for (const std::int64_t index : data.validation) {
    validation_test +=
        in_test.contains(training_hashes[static_cast<std::size_t>(index)], training.image(index));
  }
  if (training_test + training_validation + validation_test == 0) return "";
  return "images with a pixel-for-pixel copy in another part: " + std::to_string(training_test) +
         " of the clients in the test set, " + std::to_string(training_validation) +
         " of the clients in D_val, " + std::to_string(validation_test) +
         " of D_val in the test set";
}

}  // namespace fedvg
