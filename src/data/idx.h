#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "fedvg/dataset.h"

namespace fedvg {

/// What an IDX file should hold: images [N, H, W] or labels [N], both unsigned bytes.
enum class IdxContent { images, labels };

struct IdxArray {
  std::vector<std::int64_t> shape;   ///< no extent is 0
  std::vector<std::uint8_t> values;  ///< row-major, as many as the shape says
};

/// Decodes an IDX file (yann.lecun.com/exdb/mnist), plain or gzip by content:
///
///     0 0 | type, 8 = unsigned byte | dimensions d | d extents, 4 bytes each, big-endian | values
///
/// Strict: wrong magic, type or number of dimensions, an extent of 0, too few or too many
/// bytes and damaged compression are DataErrors that begin with `name`. Allocates in
/// proportion to the bytes that are there, whatever the header says.
IdxArray idx_from_bytes(std::span<const std::uint8_t> bytes, const std::string& name,
                        IdxContent content);

/// The same of a file.
IdxArray read_idx(const std::filesystem::path& path, IdxContent content);

/// Images with one channel and their labels. Throws DataError when the counts differ; the
/// names are those of the files, for the message.
Samples samples_from_idx(IdxArray images, const IdxArray& labels, const std::string& images_name,
                         const std::string& labels_name);

}  // namespace fedvg
