#include "data/images_testing.h"

#include <cstdio>  // before jpeglib.h, which needs it

#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#include <cstdlib>
#include <stdexcept>

namespace fedvg::testing {

Bytes png_file(const PngContent& content) {
  Bytes file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) throw std::runtime_error("libpng");
  png_set_write_fn(
      png, &file,
      [](png_structp writer, png_bytep data, std::size_t size) {
        auto* out = static_cast<Bytes*>(png_get_io_ptr(writer));
        out->insert(out->end(), data, data + size);
      },
      [](png_structp) {});
  png_set_IHDR(png, info, content.width, content.height, content.bit_depth, content.colour_type,
               content.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!content.palette.empty()) {
    png_set_PLTE(png, info, reinterpret_cast<png_const_colorp>(content.palette.data()),
                 static_cast<int>(content.palette.size() / 3));
  }
  if (!content.palette_alpha.empty()) {
    png_set_tRNS(png, info, content.palette_alpha.data(),
                 static_cast<int>(content.palette_alpha.size()), nullptr);
  }
  if (content.transparent_gray) {
    const png_color_16 black{};
    png_set_tRNS(png, info, nullptr, 0, &black);
  }
  png_write_info(png, info);
  png_set_interlace_handling(png);
  const std::size_t row_bytes = content.rows.size() / content.height;
  std::vector<png_bytep> rows;
  for (std::size_t y = 0; y < content.height; ++y) {
    rows.push_back(const_cast<png_bytep>(content.rows.data() + y * row_bytes));
  }
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

Bytes gray_png(std::uint8_t value, std::uint32_t height, std::uint32_t width) {
  return png_file({.height = height, .width = width, .rows = Bytes(height * width, value)});
}

Bytes rgb_png(std::uint8_t red, std::uint8_t green, std::uint8_t blue, std::uint32_t height,
              std::uint32_t width) {
  Bytes rows;
  for (std::uint32_t i = 0; i < height * width; ++i) {
    rows.insert(rows.end(), {red, green, blue});
  }
  return png_file({.height = height, .width = width, .colour_type = 2, .rows = rows});
}

Bytes jpeg_file(const JpegContent& content) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_height = content.height;
  info.image_width = content.width;
  info.input_components = static_cast<int>(content.colour.size());
  info.in_color_space = content.colour.size() == 1   ? JCS_GRAYSCALE
                        : content.colour.size() == 3 ? JCS_RGB
                                                     : JCS_CMYK;
  jpeg_set_defaults(&info);
  if (content.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
  jpeg_set_quality(&info, 100, TRUE);
  if (content.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  Bytes row;
  for (std::uint32_t x = 0; x < content.width; ++x) {
    row.insert(row.end(), content.colour.begin(), content.colour.end());
  }
  for (std::uint32_t y = 0; y < content.height; ++y) {
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  Bytes file(memory, memory + size);
  std::free(memory);
  return file;
}

void put(const TemporaryFolder& folder, const std::string& name, const Bytes& content) {
  std::filesystem::create_directories((folder.path() / name).parent_path());
  folder.write(name, content);
}

void put(const TemporaryFolder& folder, const std::string& name, const std::string& content) {
  put(folder, name, Bytes(content.begin(), content.end()));
}

Image pattern(std::int64_t channels, std::int64_t height, std::int64_t width) {
  Image image{channels, height, width, {}};
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        image.pixels.push_back(
            static_cast<std::uint8_t>((37 * y * y + 101 * x + 59 * c * x * y + 13 * y) % 256));
      }
    }
  }
  return image;
}

}  // namespace fedvg::testing
