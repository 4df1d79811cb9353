#include "data/image_cache.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <span>
#include <system_error>

#include "data/content_hash.h"

namespace fedvg {
namespace {

// Changes whenever the same files would be decoded to other bytes.
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kMagic = 0x474d494756444546;  // "FEDVGIMG"

struct Header {
  std::uint64_t magic, key, channels, height, width, images, checksum;
};

void add_header(ContentHash& hash, const Header& header) {
  for (const auto word : {header.key, header.channels, header.height, header.width}) {
    hash.add(word);
  }
}

// Does the header describe a file of so many bytes with what is wanted?
bool fits(const Header& header, std::uint64_t key, std::size_t images, std::uintmax_t file_bytes) {
  constexpr std::uint64_t kLargest = 1 << 20;
  if (header.magic != kMagic || header.key != key || header.images != images) return false;
  if (header.channels != 1 && header.channels != 3) return false;
  if (header.height == 0 || header.height > kLargest) return false;
  if (header.width == 0 || header.width > kLargest) return false;
  const std::uint64_t image_bytes = header.channels * header.height * header.width;
  const std::uintmax_t pixels = file_bytes - sizeof header;
  return pixels % images == 0 && pixels / images == image_bytes;
}

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<int> count{0};
  return path.string() + ".new-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

}  // namespace

ImageCache::ImageCache(const std::string& folder, const ImageSet& set, std::int64_t resize) {
  if (folder.empty()) return;
  std::error_code error;
  const auto absolute = std::filesystem::weakly_canonical(set.folder, error);
  if (error) return;
  ContentHash hash;
  for (const std::uint64_t word :
       {kVersion, static_cast<std::uint64_t>(resize), static_cast<std::uint64_t>(set.rgb)}) {
    hash.add(word);
  }
  hash.add_text(absolute.string());
  const std::string name = "images-" + hash.digits() + ".bin";
  for (const ImageFile& file : set.files) {
    const auto path = set.folder / file.name;
    hash.add_text(file.name);
    hash.add(static_cast<std::uint64_t>(std::filesystem::file_size(path, error)));
    if (error) return;
    const auto changed = std::filesystem::last_write_time(path, error);
    if (error) return;
    hash.add(static_cast<std::uint64_t>(changed.time_since_epoch().count()));
  }
  key_ = hash.value();
  path_ = std::filesystem::path(folder) / name;
}

bool ImageCache::read(const ImageSet& set, Dataset& dataset) const {
  if (path_.empty()) return false;
  std::error_code error;
  const auto size = std::filesystem::file_size(path_, error);
  std::ifstream file(path_, std::ios::binary);
  Header header{};
  if (error || size <= sizeof header) return false;
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || !fits(header, key_, set.files.size(), size)) return false;

  const ImageShape shape{static_cast<std::int64_t>(header.channels),
                         static_cast<std::int64_t>(header.height),
                         static_cast<std::int64_t>(header.width)};
  const ImagePlaces places(set, shape, dataset);
  ContentHash hash;
  add_header(hash, header);
  for (std::size_t i = 0; i < places.size(); ++i) {
    file.read(reinterpret_cast<char*>(places[i]), static_cast<std::streamsize>(shape.bytes()));
    if (!file) return false;
    hash.add(std::span<const std::uint8_t>(places[i], shape.bytes()));
  }
  return hash.value() == header.checksum;
}

std::string ImageCache::write(const ImagePlaces& images) const {
  if (path_.empty()) return "";
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) return path_.parent_path().string() + ": " + error.message();

  const ImageShape shape = images.shape();
  Header header{.magic = kMagic,
                .key = key_,
                .channels = static_cast<std::uint64_t>(shape.channels),
                .height = static_cast<std::uint64_t>(shape.height),
                .width = static_cast<std::uint64_t>(shape.width),
                .images = images.size(),
                .checksum = 0};
  ContentHash hash;
  add_header(hash, header);
  for (std::size_t i = 0; i < images.size(); ++i) {
    hash.add(std::span<const std::uint8_t>(images[i], shape.bytes()));
  }
  header.checksum = hash.value();

  const auto temporary = temporary_beside(path_);
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  for (std::size_t i = 0; i < images.size() && file; ++i) {
    file.write(reinterpret_cast<const char*>(images[i]),
               static_cast<std::streamsize>(shape.bytes()));
  }
  file.close();
  if (!file) error = std::error_code(errno, std::generic_category());
  if (!error) std::filesystem::rename(temporary, path_, error);
  if (!error) return "";
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  return path_.string() + ": " + error.message();
}

}  // namespace fedvg
