#include "data/npy_samples.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::int64_t most_classes = 100'000;

void check_counts(const NpyArray& samples, const NpyArray& labels) {
  if (samples.shape[0] == labels.shape[0]) return;
  throw DataError(samples.name + " has " + std::to_string(samples.shape[0]) + " samples, but " +
                  labels.name + " has " + std::to_string(labels.shape[0]) + " labels");
}

bool is_class_number(std::int64_t label) { return label >= 0 && label < most_classes; }

// Says how many outputs a model of the other labels has.
[[noreturn]] void refuse_label(const std::string& name, const std::vector<std::int64_t>& labels,
                               std::ptrdiff_t wrong) {
  std::int64_t classes = 0;
  for (const std::int64_t label : labels) {
    if (is_class_number(label)) classes = std::max(classes, label + 1);
  }
  throw DataError(name + " has label " + std::to_string(labels[static_cast<std::size_t>(wrong)]) +
                  " at row " + std::to_string(wrong) +
                  " (counted from 0); labels are class numbers from 0, below " +
                  std::to_string(most_classes) +
                  (classes == 0 ? ""
                                : "; the others of it are of " + std::to_string(classes) +
                                      " classes, 0 to " + std::to_string(classes - 1)));
}

void check_images(const NpyArray& images) {
  const auto& shape = images.shape;
  if (images.kind != 'u' || images.item_bytes != 1) {
    throw DataError(images.name + " holds images of " + images.type_name() +
                    ", but pixels are uint8, 0 to 255: for values in [0, 1] save "
                    "(255 * x).round().astype(np.uint8)");
  }
  if (shape.size() != 3 && shape.size() != 4) {
    throw DataError(images.name + " has the shape " + images.shape_text() +
                    ", but images have [N, height, width] or [N, height, width, channels]");
  }
  if (shape.size() == 4 && shape[3] > 4) {
    const bool first = shape[1] <= 4;
    throw DataError(images.name + " has the shape " + images.shape_text() +
                    (first ? ": channels must come last, x.transpose(0, 2, 3, 1)"
                           : ": volumes (3D) are not read, only images [N, height, width] or "
                             "[N, height, width, channels] of up to 4 channels"));
  }
}

// One image after the other, so that only one of them is held twice.
void planes_first(std::vector<std::uint8_t>& pixels, std::size_t channels, std::size_t plane) {
  std::vector<std::uint8_t> image(channels * plane);
  for (std::size_t start = 0; start < pixels.size(); start += image.size()) {
    std::copy_n(&pixels[start], image.size(), image.begin());
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < plane; ++p)
        pixels[start + c * plane + p] = image[p * channels + c];
    }
  }
}

}  // namespace

std::vector<std::int64_t> labels_from_npy(const NpyArray& labels) {
  const auto& shape = labels.shape;
  if (shape.size() == 2 && shape[1] > 1) {
    throw DataError(labels.name + " has the shape " + labels.shape_text() + ": " +
                    std::to_string(shape[1]) +
                    " labels a sample (a multi-label set is not supported; one-hot labels become "
                    "class numbers by y.argmax(axis=1))");
  }
  if (shape.empty() || shape.size() > 2) {
    throw DataError(labels.name + " has the shape " + labels.shape_text() +
                    ", but labels have [N] or [N, 1]");
  }
  auto numbers = integers_of(labels);
  const auto wrong = std::find_if_not(numbers.begin(), numbers.end(), is_class_number);
  if (wrong != numbers.end()) refuse_label(labels.name, numbers, wrong - numbers.begin());
  return numbers;
}

Samples images_from_npy(NpyArray images, const NpyArray& labels) {
  check_images(images);
  Samples samples;
  samples.labels = labels_from_npy(labels);
  check_counts(images, labels);
  samples.channels = images.shape.size() == 4 ? images.shape[3] : 1;
  samples.height = images.shape[1];
  samples.width = images.shape[2];
  samples.pixels = std::move(images.values);
  if (samples.channels > 1) {
    planes_first(samples.pixels, static_cast<std::size_t>(samples.channels),
                 static_cast<std::size_t>(samples.height * samples.width));
  }
  return samples;
}

Samples features_from_npy(const NpyArray& features, const NpyArray& labels) {
  if (features.shape.size() != 2) {
    throw DataError(features.name + " has the shape " + features.shape_text() +
                    ", but features have [N, F]");
  }
  Samples samples;
  samples.labels = labels_from_npy(labels);
  check_counts(features, labels);
  samples.channels = features.shape[1];
  samples.height = samples.width = 1;
  samples.is_features = true;
  samples.pixels = floats_of(features);
  return samples;
}

}  // namespace fedvg
