#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/byte_stream.h"

namespace fedvg {

/// An array of a NumPy file (numpy.lib.format), ready to use: row-major and of the machine's
/// byte order, however it was stored.
struct NpyArray {
  std::string name;                  ///< where it is from, for messages: "set.npz: x_train"
  char kind = 'u';                   ///< b bool, i, u integers, f floats, S bytes, U text
  std::int64_t item_bytes = 1;       ///< of one element; U: 4 bytes a character
  std::vector<std::int64_t> shape;   ///< no extent is 0; empty: a single number
  std::vector<std::uint8_t> values;  ///< row-major, items() * item_bytes

  std::int64_t items() const;
  /// "uint8", "float32", "text": for messages.
  std::string type_name() const;
  /// "[5236, 28, 28, 3]": likewise.
  std::string shape_text() const;
};

/// Decodes a .npy file of format version 1, 2 or 3. Strict: wrong magic, header that is not
/// the dictionary of descr, fortran_order and shape, other types (objects, structures, complex
/// numbers, 16-bit and long floats, dates), an extent of 0, too few or too many bytes are
/// DataErrors that begin with `name`. Allocates in proportion to what can follow, whatever
/// the header says.
NpyArray read_npy(ByteStream& stream, const std::string& name);
NpyArray npy_from_bytes(std::span<const std::uint8_t> bytes, const std::string& name);

/// Elements of an array of integers or bools, of any width. Throws DataError naming the array
/// when it holds something else, or an integer above 2^63 - 1.
std::vector<std::int64_t> integers_of(const NpyArray& array);

/// Elements of an array of numbers as 32-bit floats, in the form of Samples::pixels. Throws
/// DataError naming the array, and row and column of an element that is not finite or that
/// 32 bits cannot hold.
std::vector<std::uint8_t> floats_of(const NpyArray& array);

/// Elements of an array of integers or text as text (UTF-8), without the padding. Throws
/// DataError when it holds something else.
std::vector<std::string> texts_of(const NpyArray& array);

}  // namespace fedvg
