#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "data/image_set.h"

namespace fedvg {

/// The decoded images of one set in one file, images-HASH.bin, in a folder for such files:
///
///     magic | key | channels | height | width | images | checksum | pixels
///
/// in words of 8 bytes of the machine. HASH is of the set's folder and of how it is
/// decoded; the key is also of name, size and time of change (ns) of every file, so a set
/// that has changed takes the place of what was kept of it.
class ImageCache {
 public:
  /// `folder` may be empty: then nothing is kept. Asks the system for size and time of all
  /// files; a file that cannot be asked for turns the cache off.
  ImageCache(const std::string& folder, const ImageSet& set, std::int64_t resize);

  /// Fills the parts of `dataset`; false when nothing is kept, or something else, or it is
  /// damaged: then their content is undefined.
  bool read(const ImageSet& set, Dataset& dataset) const;

  /// Keeps decoded images, whole or not at all; makes the folder. Returns what failed, or
  /// nothing: a cache is no reason to stop.
  std::string write(const ImagePlaces& images) const;

 private:
  std::filesystem::path path_;  // empty: off
  std::uint64_t key_ = 0;
};

}  // namespace fedvg
