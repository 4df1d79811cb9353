#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace fedvg {

/// The content of a file that may be compressed, front to back.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Fills `out` and returns how much it filled; less than out.size() only at the end.
  /// Throws DataError where compressed data is damaged.
  virtual std::size_t read(std::span<std::uint8_t> out) = 0;

  /// No more than so many bytes can still come: exact for plain data, deflate's limit
  /// for compressed data. Lets a reader disbelieve a header before it allocates.
  virtual std::uint64_t at_most() const = 0;

  /// At the end: true when compressed data stopped before its own end mark.
  virtual bool cut_short() const { return false; }
};

/// Plain or gzip (RFC 1952, one or more members), told apart by content. `name` is for
/// messages; `bytes` must outlive the stream.
std::unique_ptr<ByteStream> open_bytes(std::span<const std::uint8_t> bytes, std::string name);

}  // namespace fedvg
