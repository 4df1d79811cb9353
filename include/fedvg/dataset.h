#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fedvg {

/// Labelled images of one size, held as the bytes of their file.
struct Samples {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  ///< [N, C, H, W], row-major
  std::vector<std::int64_t> labels;  ///< [N], each in [0, classes)

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  /// Bytes of one image, C * H * W.
  std::int64_t image_bytes() const { return channels * height * width; }
  /// Image `index` in [0, size()), [C, H, W].
  std::span<const std::uint8_t> image(std::int64_t index) const {
    const auto bytes = static_cast<std::size_t>(image_bytes());
    return std::span(pixels).subspan(static_cast<std::size_t>(index) * bytes, bytes);
  }
};

/// A data set as its publisher divides it. All parts have the same image size.
struct Dataset {
  std::string name;
  std::vector<std::string> classes;  ///< names; their number is the number of classes
  Samples training;
  Samples test;
  std::optional<Samples> validation;  ///< the publisher's own part, where there is one
  std::string source;                 ///< where it was read from, for people
};

/// Reads one format. A reader is one file in src/data/readers/ that ends in
///
///     FEDVG_REGISTER(DatasetReader, "idx", IdxReader, IdxOptions, "one line of help");
///
/// and is chosen by `data.name`; its options stand beside it in [data].
class DatasetReader {
 public:
  static constexpr const char* kind = "data";
  virtual ~DatasetReader() = default;

  /// What it returns is whole: both parts non-empty and of one image size, as many labels
  /// as images, every label below the number of classes. Throws DataError naming the file,
  /// what is wrong with it and what to do, or OptionError for a missing option.
  Dataset read() const;

 private:
  /// What the files hold; read() checks that it is whole.
  virtual Dataset load() const = 0;
};

}  // namespace fedvg
