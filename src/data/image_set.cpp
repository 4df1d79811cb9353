#include "data/image_set.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "data/file_bytes.h"
#include "data/image_cache.h"
#include "data/image_file.h"
#include "data/parallel_loop.h"
#include "data/resize.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

Image read_image(const std::filesystem::path& path, std::int64_t resize) {
  Image image = decode_image(read_file_bytes(path), path.string());
  if (resize == 0 || (image.height == resize && image.width == resize)) return image;
  return resize_image(image, resize, resize);
}

std::string extents(std::int64_t height, std::int64_t width) {
  return std::to_string(width) + " x " + std::to_string(height) + " pixels";
}

class Decoder {
 public:
  Decoder(const ImageSet& set, const ReadRequest& request) : set_(set), request_(request) {
    const Image first = read_image(path(0), request.resize);
    shape_ = {set.rgb ? 3 : first.channels, first.height, first.width};
  }

  ImagePlaces decode(Dataset& dataset) {
    for (;;) {
      ImagePlaces places(set_, shape_, dataset);
      parallel_loop(
          std::ssize(set_.files),
          [&](std::int64_t i) {
            if (!colour_found_) decode_one(static_cast<std::size_t>(i), places);
          },
          request_.progress);
      if (!colour_found_) return places;
      colour_found_ = false;
      shape_.channels = 3;
    }
  }

 private:
  std::filesystem::path path(std::size_t index) const {
    return set_.folder / set_.files[index].name;
  }

  void decode_one(std::size_t index, const ImagePlaces& places) {
    const Image image = read_image(path(index), request_.resize);
    if (image.height != shape_.height || image.width != shape_.width) {
      throw DataError(path(index).string() + " has " + extents(image.height, image.width) +
                      ", but " + path(0).string() + " has " + extents(shape_.height, shape_.width) +
                      ": set data.resize to bring all images to one size");
    }
    if (image.channels > shape_.channels) {
      colour_found_ = true;
      return;
    }
    std::uint8_t* to = places[index];
    for (std::int64_t c = 0; c < shape_.channels; c += image.channels) {
      to = std::copy(image.pixels.begin(), image.pixels.end(), to);
    }
  }

  const ImageSet& set_;
  const ReadRequest& request_;
  ImageShape shape_;
  std::atomic<bool> colour_found_{false};  // among images that were all gray so far
};

}  // namespace

ImagePlaces::ImagePlaces(const ImageSet& set, ImageShape shape, Dataset& dataset) : shape_(shape) {
  const bool owned = std::ranges::any_of(set.files, [](auto& file) { return !file.owner.empty(); });
  const auto fill = [&](Samples& samples, ImagePart part) {
    samples = {.channels = shape.channels, .height = shape.height, .width = shape.width};
    for (const ImageFile& file : set.files) {
      if (file.part != part) continue;
      samples.labels.push_back(file.label);
      if (owned && part == ImagePart::training) samples.owners.push_back(file.owner);
    }
    samples.pixels.resize(samples.labels.size() * shape.bytes());
    return samples.pixels.data();
  };
  std::uint8_t* training = fill(dataset.training, ImagePart::training);
  std::uint8_t* test = fill(dataset.test, ImagePart::test);
  Samples own_validation;
  std::uint8_t* validation = fill(own_validation, ImagePart::validation);
  dataset.validation.reset();
  if (own_validation.size() > 0) dataset.validation = std::move(own_validation);

  places_.reserve(set.files.size());
  for (const ImageFile& file : set.files) {
    std::uint8_t*& next = file.part == ImagePart::training ? training
                          : file.part == ImagePart::test   ? test
                                                           : validation;
    places_.push_back(next);
    next += shape.bytes();
  }
}

void read_images(const ImageSet& set, const ReadRequest& request, Dataset& dataset) {
  if (set.files.empty()) throw DataError(set.folder.string() + " holds no images");
  const ImageCache cache(request.cache_folder, set, request.resize);
  if (cache.read(set, dataset)) return;
  const ImagePlaces places = Decoder(set, request).decode(dataset);
  const std::string fault = cache.write(places);
  if (!fault.empty()) dataset.notes.push_back("decoded images are not kept: " + fault);
}

}  // namespace fedvg
