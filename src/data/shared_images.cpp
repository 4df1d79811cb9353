#include "data/shared_images.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "data/fingerprint.h"

namespace fedvg {
namespace {

// Some samples of one set, by content.
class ImageSet {
 public:
  ImageSet(const Samples& samples, std::span<const std::uint64_t> hashes, const IndexList& chosen)
      : samples_(samples), hashes_(hashes), chosen_(chosen) {}

  // Before others ask for copies in this one.
  void index() {
    for (const std::int64_t sample : chosen_) by_hash_.emplace(hash(sample), sample);
  }

  // How many of `chosen` have a copy in `other`.
  std::int64_t copies_in(const ImageSet& other) const {
    return std::ranges::count_if(chosen_, [&](std::int64_t index) {
      return other.contains(hash(index), samples_.image(index));
    });
  }

 private:
  std::uint64_t hash(std::int64_t index) const { return hashes_[static_cast<std::size_t>(index)]; }
  bool contains(std::uint64_t hash, std::span<const std::uint8_t> image) const {
    const auto [first, last] = by_hash_.equal_range(hash);
    return std::any_of(first, last, [&](const auto& entry) {
      return std::ranges::equal(samples_.image(entry.second), image);
    });
  }

  const Samples& samples_;
  std::span<const std::uint64_t> hashes_;
  const IndexList& chosen_;
  std::unordered_multimap<std::uint64_t, std::int64_t> by_hash_;
};

IndexList joined(const std::vector<IndexList>& lists) {
  IndexList all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

std::string shared_images(const FederatedData& data,
                          std::span<const std::uint64_t> training_hashes) {
  const auto own_validation =
      data.validation_set ? image_hashes(*data.validation_set) : std::vector<std::uint64_t>{};
  const auto own_test =
      data.pooled ? std::vector<std::uint64_t>{} : image_hashes(data.dataset.test);
  const IndexList of_clients = joined(data.clients);
  const ImageSet clients(data.dataset.training, training_hashes, of_clients);
  ImageSet validation(data.validation_samples(),
                      data.validation_set ? own_validation : training_hashes, data.validation);
  ImageSet test(data.test_samples(), data.pooled ? training_hashes : own_test, data.test);
  validation.index();
  test.index();

  const std::int64_t clients_test = clients.copies_in(test);
  const std::int64_t clients_validation = clients.copies_in(validation);
  const std::int64_t validation_test = validation.copies_in(test);
  if (clients_test + clients_validation + validation_test == 0) return "";
  const char* copies = data.dataset.training.is_features ? "samples with an equal copy"
                                                         : "images with a pixel-for-pixel copy";
  return copies + std::string(" in another part: ") + std::to_string(clients_test) +
         " of the clients in the test set, " + std::to_string(clients_validation) +
         " of the clients in D_val, " + std::to_string(validation_test) +
         " of D_val in the test set";
}

}  // namespace fedvg
