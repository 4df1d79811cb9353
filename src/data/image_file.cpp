#include "data/image_file.h"

#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "data/file_bytes.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

// Both libraries report errors by a call that must not return. It jumps back here, so a
// step must not hold objects with destructors: what it needs lives in the caller.
template <class Step>
bool completes(std::jmp_buf& back, Step&& step) {
  if (setjmp(back) != 0) return false;
  step();
  return true;
}

// A file this small cannot hold so many pixels: no need to try. 8 and more pixels come from
// a bit (deflate packs 1032 bytes into one, a JPEG block of 64 pixels takes a bit).
void check_extents(std::uint64_t height, std::uint64_t width, std::size_t file_bytes,
                   const std::string& name) {
  constexpr std::uint64_t kPixelsOfAByte = 8 * 1032;
  if (height * width / kPixelsOfAByte <= file_bytes) return;
  throw DataError(name + " is damaged or truncated: it claims " + std::to_string(width) + " x " +
                  std::to_string(height) + " pixels in " + std::to_string(file_bytes) + " bytes");
}

// [H, W, C] to [C, H, W].
Image planar(std::vector<std::uint8_t> interleaved, std::int64_t channels, std::int64_t height,
             std::int64_t width) {
  Image image{channels, height, width, {}};
  if (channels == 1) {
    image.pixels = std::move(interleaved);
    return image;
  }
  image.pixels.resize(interleaved.size());
  const auto plane = static_cast<std::size_t>(height * width);
  const auto planes = static_cast<std::size_t>(channels);
  for (std::size_t c = 0; c < planes; ++c) {
    for (std::size_t i = 0; i < plane; ++i) {
      image.pixels[c * plane + i] = interleaved[i * planes + c];
    }
  }
  return image;
}

class PngDecoder {
 public:
  PngDecoder(std::span<const std::uint8_t> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_) info_ = png_create_info_struct(png_);
    if (!png_ || !info_) {
      png_destroy_read_struct(&png_, &info_, nullptr);
      throw DataError(name + " cannot be decoded: libpng does not start");
    }
  }
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  Image image() {
    step([this] { read_header(); });
    const std::size_t height = png_get_image_height(png_, info_);
    const std::size_t width = png_get_image_width(png_, info_);
    check_extents(height, width, bytes_.size(), name_);
    step([this] { set_format(); });
    const std::size_t row_bytes = png_get_rowbytes(png_, info_);
    const std::int64_t channels = png_get_channels(png_, info_);
    std::vector<std::uint8_t> pixels(height * row_bytes);
    std::vector<png_bytep> rows(height);
    for (std::size_t y = 0; y < height; ++y) rows[y] = pixels.data() + y * row_bytes;
    step([&, this] {
      png_read_image(png_, rows.data());
      png_read_end(png_, nullptr);
    });
    return planar(std::move(pixels), channels, static_cast<std::int64_t>(height),
                  static_cast<std::int64_t>(width));
  }

 private:
  template <class Step>
  void step(Step&& what) {
    if (!completes(back_, what)) throw DataError(name_ + message_);
  }

  void read_header() {
    png_set_read_fn(png_, this, on_read);
    png_read_info(png_, info_);
  }

  // Whatever the file has, the rows come as gray or RGB of 8 bits.
  void set_format() {
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  }

  static void on_error(png_structp png, png_const_charp what) {
    auto* self = static_cast<PngDecoder*>(png_get_error_ptr(png));
    if (self->ended_) {
      std::snprintf(self->message_, sizeof message_, " is truncated: the PNG image has no end");
    } else {
      std::snprintf(self->message_, sizeof message_, " is a damaged PNG image: %s", what);
    }
    std::longjmp(self->back_, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  static void on_read(png_structp png, png_bytep out, std::size_t size) {
    auto* self = static_cast<PngDecoder*>(png_get_io_ptr(png));
    if (size > self->bytes_.size()) {
      self->ended_ = true;
      png_error(png, "no end");
    }
    std::memcpy(out, self->bytes_.data(), size);
    self->bytes_ = self->bytes_.subspan(size);
  }

  std::span<const std::uint8_t> bytes_;  // still to come
  const std::string& name_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf back_{};
  bool ended_ = false;
  char message_[256] = "";
};

class JpegDecoder {
 public:
  JpegDecoder(std::span<const std::uint8_t> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {
    info_.err = jpeg_std_error(&errors_);
    info_.client_data = this;
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    errors_.output_message = [](j_common_ptr) {};
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&info_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  Image image() {
    step([this] { read_header(); });
    check_colours();
    check_extents(info_.image_height, info_.image_width, bytes_.size(), name_);
    const std::size_t height = info_.image_height, width = info_.image_width;
    const std::size_t channels = info_.num_components == 1 ? 1 : 3;
    info_.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    std::vector<std::uint8_t> pixels(height * width * channels);
    step([&, this] {
      jpeg_start_decompress(&info_);
      while (info_.output_scanline < info_.output_height) {
        JSAMPROW row = pixels.data() + info_.output_scanline * width * channels;
        jpeg_read_scanlines(&info_, &row, 1);
      }
      jpeg_finish_decompress(&info_);
    });
    return planar(std::move(pixels), static_cast<std::int64_t>(channels),
                  static_cast<std::int64_t>(height), static_cast<std::int64_t>(width));
  }

 private:
  template <class Step>
  void step(Step&& what) {
    if (!completes(back_, what)) throw DataError(name_ + message_);
  }

  void read_header() {
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, bytes_.data(), bytes_.size());
    jpeg_read_header(&info_, TRUE);
  }

  void check_colours() const {
    if (info_.num_components == 4) {
      throw DataError(name_ + " is a CMYK JPEG: convert to RGB");
    }
    if (info_.num_components != 1 && info_.num_components != 3) {
      throw DataError(name_ + " is a JPEG image of " + std::to_string(info_.num_components) +
                      " channels: convert to gray or RGB");
    }
  }

  void fail() {
    char what[JMSG_LENGTH_MAX];
    errors_.format_message(reinterpret_cast<j_common_ptr>(&info_), what);
    const bool ended = errors_.msg_code == JWRN_JPEG_EOF || errors_.msg_code == JERR_INPUT_EMPTY;
    std::snprintf(
        message_, sizeof message_,
        ended ? " is truncated: the JPEG image has no end (%s)" : " is a damaged JPEG image: %s",
        what);
    std::longjmp(back_, 1);
  }
  static void on_error(j_common_ptr info) { static_cast<JpegDecoder*>(info->client_data)->fail(); }
  // What libjpeg repairs by guessing is damage to us; stray bytes between segments, which
  // cameras write, are not, nor are remarks (level >= 0).
  static void on_message(j_common_ptr info, int level) {
    auto* self = static_cast<JpegDecoder*>(info->client_data);
    if (level >= 0) return;
    switch (self->errors_.msg_code) {
      case JWRN_EXTRANEOUS_DATA:
      case JWRN_ADOBE_XFORM:
      case JWRN_JFIF_MAJOR:
        return;
      default:
        self->fail();
    }
  }

  std::span<const std::uint8_t> bytes_;
  const std::string& name_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf back_{};
  char message_[JMSG_LENGTH_MAX + 64] = "";
};

bool begins_with(std::span<const std::uint8_t> bytes, std::string_view signature) {
  return bytes.size() >= signature.size() &&
         std::memcmp(bytes.data(), signature.data(), signature.size()) == 0;
}

}  // namespace

Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name) {
  if (begins_with(bytes, "\x89PNG")) return PngDecoder(bytes, name).image();
  if (begins_with(bytes, "\xff\xd8\xff")) return JpegDecoder(bytes, name).image();
  const auto start = bytes.first(std::min<std::size_t>(bytes.size(), 512));
  throw DataError(name + " is " + describe_content(start) + ", not a PNG or JPEG image");
}

}  // namespace fedvg
