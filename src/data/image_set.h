#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fedvg/dataset.h"

namespace fedvg {

enum class ImagePart { training, test, validation };

struct ImageFile {
  std::string name;  ///< below the set's folder
  std::int64_t label = 0;
  ImagePart part = ImagePart::training;
  std::string owner = {};
};

/// A data set of one file an image, PNG or JPEG.
struct ImageSet {
  std::filesystem::path folder;
  std::vector<ImageFile> files;  ///< within a part in the order of its samples
  bool rgb = false;              ///< gray images become RGB even where all are gray
};

/// The shape of a set's images, once decoded.
struct ImageShape {
  std::int64_t channels = 0, height = 0, width = 0;
  std::size_t bytes() const { return static_cast<std::size_t>(channels * height * width); }
};

/// Training, test and validation part of a data set, sized for a set's images and with its
/// labels, and where each image belongs in them. Owners are filled when any file has one.
class ImagePlaces {
 public:
  ImagePlaces(const ImageSet& set, ImageShape shape, Dataset& dataset);
  ImageShape shape() const { return shape_; }
  std::size_t size() const { return places_.size(); }
  /// shape().bytes() of file `index`.
  std::uint8_t* operator[](std::size_t index) const { return places_[index]; }

 private:
  ImageShape shape_;
  std::vector<std::uint8_t*> places_;
};

/// Decodes all files, by several threads, into the parts of `dataset`: gray when all are
/// gray, else RGB; resized on the way under request.resize. Keeps what it decoded in
/// request.cache_folder and takes it from there while no file has changed (image_cache.h).
/// Throws DataError naming the file that cannot be read or decoded, or the two whose sizes
/// differ; the first of them in the set's order, whatever the number of threads.
void read_images(const ImageSet& set, const ReadRequest& request, Dataset& dataset);

}  // namespace fedvg
