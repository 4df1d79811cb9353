#include "data/idx.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "data/byte_stream.h"
#include "data/file_bytes.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::uint8_t unsigned_byte = 0x08;

std::size_t dimensions(IdxContent content) { return content == IdxContent::images ? 3 : 1; }
std::string plural(IdxContent content) {
  return content == IdxContent::images ? "images" : "labels";
}

std::string type_name(std::uint8_t type) {
  switch (type) {
    case 0x09:
      return "signed bytes (type 0x09)";
    case 0x0b:
      return "16-bit integers (type 0x0b)";
    case 0x0c:
      return "32-bit integers (type 0x0c)";
    case 0x0d:
      return "32-bit floats (type 0x0d)";
    case 0x0e:
      return "64-bit floats (type 0x0e)";
    default:
      return "values of the unknown type " + std::to_string(type);
  }
}

// "2 x 28 x 28"
std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text;
}

[[noreturn]] void refuse_content(const std::string& name, IdxContent content, ByteStream& stream,
                                 std::span<const std::uint8_t> head) {
  std::vector<std::uint8_t> start(512);
  std::copy(head.begin(), head.end(), start.begin());
  start.resize(head.size() + stream.read(std::span(start).subspan(head.size())));
  throw DataError(name + " is not an IDX file of " + plural(content) + ": it is " +
                  describe_content(start) +
                  "; give the original file, unpacked or compressed by gzip");
}

void check_magic(const std::string& name, IdxContent content, ByteStream& stream,
                 std::span<const std::uint8_t, 4> magic) {
  if (magic[0] != 0 || magic[1] != 0) refuse_content(name, content, stream, magic);
  const std::size_t wanted = dimensions(content);
  const std::size_t found = magic[3];
  if (magic[2] != unsigned_byte) {
    throw DataError(name + " holds " + type_name(magic[2]) + ", but " + plural(content) +
                    " must be unsigned bytes (type 0x08)");
  }
  if (found == wanted) return;
  const IdxContent other = content == IdxContent::images ? IdxContent::labels : IdxContent::images;
  if (found == dimensions(other)) {
    throw DataError(name + " holds " + plural(other) + ", but " + plural(content) +
                    " are wanted here: the files are mixed up");
  }
  throw DataError(name + " has " + std::to_string(found) + " dimensions, but " + plural(content) +
                  " have " + std::to_string(wanted));
}

// Empty when the product does not fit 63 bits.
std::optional<std::uint64_t> volume(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return static_cast<std::uint64_t>(product);
}

std::vector<std::int64_t> read_shape(const std::string& name, IdxContent content,
                                     ByteStream& stream) {
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < dimensions(content); ++i) {
    std::array<std::uint8_t, 4> extent{};
    if (stream.read(extent) < extent.size()) {
      throw DataError(name + " is truncated: it ends within its header of " +
                      std::to_string(4 + 4 * dimensions(content)) + " bytes; get the file again");
    }
    shape.push_back(std::int64_t{extent[0]} << 24 | extent[1] << 16 | extent[2] << 8 | extent[3]);
  }
  if (shape[0] == 0) throw DataError(name + " is empty: its header declares 0 " + plural(content));
  if (std::count(shape.begin(), shape.end(), 0) > 0) {
    throw DataError(name + " declares images of " + std::to_string(shape[1]) + " x " +
                    std::to_string(shape[2]) + " pixels: there is nothing in them");
  }
  return shape;
}

// Up to `wanted` bytes. The buffer grows as bytes come: a compressed header may lie.
std::vector<std::uint8_t> read_values(ByteStream& stream, std::uint64_t wanted,
                                      std::size_t first_step) {
  std::vector<std::uint8_t> values;
  std::size_t filled = 0;
  std::size_t step = first_step;
  while (filled < wanted) {
    values.resize(filled + std::min<std::uint64_t>(wanted - filled, step));
    const std::size_t got = stream.read(std::span(values).subspan(filled));
    filled += got;
    if (filled < values.size()) break;
    step = filled;
  }
  values.resize(filled);
  return values;
}

}  // namespace

IdxArray idx_from_bytes(std::span<const std::uint8_t> bytes, const std::string& name,
                        IdxContent content) {
  if (bytes.empty()) throw DataError(name + " is empty (0 bytes); get the file again");
  const auto stream = open_bytes(bytes, name);
  std::array<std::uint8_t, 4> magic{};
  const std::size_t got = stream->read(magic);
  if (got < magic.size()) {
    if (got > 0 && magic[0] != 0)
      refuse_content(name, content, *stream, std::span(magic).first(got));
    throw DataError(name + " is truncated: " + std::to_string(got) +
                    " bytes, shorter than an IDX header; get the file again");
  }
  check_magic(name, content, *stream, magic);

  IdxArray array{.shape = read_shape(name, content, *stream), .values = {}};
  const auto wanted = volume(array.shape);
  const std::string declared =
      "its header declares " + shape_text(array.shape) + " bytes of " + plural(content);
  if (!wanted || *wanted > stream->at_most()) {
    throw DataError(name + " is truncated or no IDX file: " + declared + ", but at most " +
                    std::to_string(stream->at_most()) + " can follow; get the file again");
  }
  array.values = read_values(*stream, *wanted, std::max<std::size_t>(1 << 20, 8 * bytes.size()));
  if (array.values.size() < *wanted) {
    throw DataError(name + " is truncated: " + declared + " (" + std::to_string(*wanted) +
                    "), but only " + std::to_string(array.values.size()) +
                    " follow; get the file again");
  }
  std::uint8_t extra;
  if (stream->read({&extra, 1}) > 0) {
    throw DataError(name + " is too long: " + declared + " (" + std::to_string(*wanted) +
                    "), but more follow; it is damaged or not what its name says");
  }
  if (stream->cut_short()) {
    throw DataError(name + " is truncated: its compressed data lacks the end; get the file again");
  }
  return array;
}

IdxArray read_idx(const std::filesystem::path& path, IdxContent content) {
  return idx_from_bytes(read_file_bytes(path), path.string(), content);
}

Samples samples_from_idx(IdxArray images, const IdxArray& labels, const std::string& images_name,
                         const std::string& labels_name) {
  if (images.shape[0] != labels.shape[0]) {
    throw DataError(images_name + " has " + std::to_string(images.shape[0]) + " images, but " +
                    labels_name + " has " + std::to_string(labels.shape[0]) +
                    " labels: the two belong to different sets");
  }
  Samples samples;
  samples.channels = 1;
  samples.height = images.shape[1];
  samples.width = images.shape[2];
  samples.pixels = std::move(images.values);
  samples.labels.assign(labels.values.begin(), labels.values.end());
  return samples;
}

}  // namespace fedvg
