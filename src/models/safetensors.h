#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

// The file format of huggingface/safetensors: eight bytes of header length, a JSON
// header, then the tensors' bytes without gaps. No tensor type in sight: rooms that
// do not see libtorch read and write models with this.

namespace fedvg {

/// One tensor of a model, row-major, little-endian.
struct NamedArray {
  std::string name;
  std::string dtype;                ///< "F64", "I64", "F32", "I32", "F16", "BF16", "U8" or "BOOL"
  std::vector<std::int64_t> shape;  ///< empty: a single number
  std::vector<std::byte> bytes;

  bool operator==(const NamedArray&) const = default;
};

/// Bytes of one number; 0 for a dtype that is not in the list above.
std::int64_t dtype_size(const std::string& dtype);

/// What a file holds.
struct TensorFile {
  std::vector<NamedArray> tensors;  ///< in the order in which their bytes lie in the file
  std::map<std::string, std::string> metadata;
};

/// Hands a file's bytes to `sink`, piece by piece and in order: the header, then each
/// tensor. Tensors are laid by falling size of their numbers and keep the given order
/// within one size, so that each starts at a multiple of it. Throws std::logic_error
/// when names repeat or are not UTF-8, a dtype is unknown, bytes do not fill the shape or the
/// header would exceed 100 MB: the caller's mistake.
void encode_safetensors(const std::vector<NamedArray>& tensors,
                        const std::map<std::string, std::string>& metadata,
                        const std::function<void(std::span<const std::byte>)>& sink);

/// Reads a whole file. Throws DataError naming the file when it cannot be read or is not
/// exactly what the format asks for: the header's length lies or exceeds 100 MB, a header
/// nested deeper than the format is, an unknown dtype, a repeated name, a shape that
/// overflows, tensors that overlap, leave gaps or end before or after the file does; the
/// tensor is named too where it is one's fault. Nothing is allocated on the word of a header
/// that the file's size does not bear out.
TensorFile read_safetensors(const std::string& path);

}  // namespace fedvg
