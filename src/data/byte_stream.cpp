#include "data/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "fedvg/error.h"

namespace fedvg {
namespace {

// A byte of deflate gives at most 1032 bytes (zlib's technical details); a few more for
// what inflate has already taken in.
constexpr std::uint64_t deflate_limit = 1032;
constexpr std::uint64_t inside_inflate = 1 << 16;

bool is_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  std::size_t read(std::span<std::uint8_t> out) override {
    const std::size_t count = std::min(out.size(), left_.size());
    std::copy_n(left_.begin(), count, out.begin());
    left_ = left_.subspan(count);
    return count;
  }
  std::uint64_t at_most() const override { return left_.size(); }

 private:
  std::span<const std::uint8_t> left_;
};

class GzipStream final : public ByteStream {
 public:
  GzipStream(std::span<const std::uint8_t> bytes, std::string name)
      : name_(std::move(name)), left_(bytes) {
    if (inflateInit2(&state_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipStream() override { inflateEnd(&state_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  std::size_t read(std::span<std::uint8_t> out) override {
    std::size_t filled = 0;
    while (filled < out.size() && !ended_ && !cut_short_) filled += step(out.subspan(filled));
    return filled;
  }
  std::uint64_t at_most() const override {
    if (ended_ || cut_short_) return 0;
    return (left_.size() + state_.avail_in) * deflate_limit + inside_inflate;
  }
  bool cut_short() const override { return cut_short_; }

 private:
  static uInt piece(std::size_t size) {
    return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
  }

  // One call of inflate; zlib's counters have 32 bits, so large spans go in pieces.
  std::size_t step(std::span<std::uint8_t> out) {
    if (state_.avail_in == 0) {
      state_.next_in = const_cast<Bytef*>(left_.data());  // zlib does not write there
      state_.avail_in = piece(left_.size());
      left_ = left_.subspan(state_.avail_in);
    }
    const uInt wanted = piece(out.size());
    state_.next_out = out.data();
    state_.avail_out = wanted;
    const int result = inflate(&state_, Z_NO_FLUSH);
    const std::size_t made = wanted - state_.avail_out;
    if (result == Z_STREAM_END) {
      end_member();
    } else if (result == Z_BUF_ERROR || (result == Z_OK && made < wanted)) {
      cut_short_ = state_.avail_in == 0 && left_.empty();
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK) {
      throw DataError(name_ + ": damaged gzip data (" +
                      (state_.msg ? state_.msg : "no reason given") + "); get the file again");
    }
    return made;
  }

  void end_member() {
    const std::span rest(state_.next_in, state_.avail_in);
    if (rest.empty() && left_.empty()) {
      ended_ = true;
    } else if (rest.size() >= 2 ? is_gzip(rest) : !left_.empty()) {
      inflateReset(&state_);
    } else {
      throw DataError(name_ + ": " + std::to_string(rest.size() + left_.size()) +
                      " bytes follow the end of the gzip data; get the file again");
    }
  }

  std::string name_;
  std::span<const std::uint8_t> left_;  ///< not yet given to inflate
  z_stream state_{};
  bool ended_ = false;
  bool cut_short_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> open_bytes(std::span<const std::uint8_t> bytes, std::string name) {
  if (is_gzip(bytes)) return std::make_unique<GzipStream>(bytes, std::move(name));
  return std::make_unique<PlainStream>(bytes);
}

}  // namespace fedvg
