#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fedvg {

/// Labelled samples of one shape: images, held as the bytes of their file, or rows of
/// features, which are numbers and have shape [F, 1, 1].
struct Samples {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<std::uint8_t> pixels = {};  ///< [N, C, H, W], row-major; a feature: 4 bytes, a float
  std::vector<std::int64_t> labels = {};  ///< [N], each in [0, classes)
  std::vector<std::string> owners =
      {};                    ///< [N], the client a sample belongs to by nature; or empty
  bool is_features = false;  ///< `pixels` holds floats of the machine's byte order

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  /// Bytes of one sample: C * H * W numbers of one byte, or of four.
  std::int64_t image_bytes() const { return channels * height * width * (is_features ? 4 : 1); }
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
  std::vector<std::string> notes;     ///< what reading did beside reading, to be said at start
};

/// What a run asks of a reader beside the format's own options.
struct ReadRequest {
  /// Column, array or folder level that says whose a sample is: fills Samples::owners. A
  /// format that has no such thing throws OptionError. Empty: not wanted.
  std::string owner_column = {};
  /// Images are brought to resize x resize pixels, with antialiasing; 0: as they are.
  std::int64_t resize = 0;
  /// Share of each class that a format without a test set holds out as one, drawn from `seed`.
  double test_ratio = 0.25;
  std::uint64_t seed = 1;
  /// Where decoded image folders may be kept for the next run, made when needed; empty: nowhere.
  std::string cache_folder = {};
  /// Called now and then with images done and in all, from one thread; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
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
  Dataset read(const ReadRequest& request = {}) const;

 private:
  /// What the files hold; read() checks that it is whole.
  virtual Dataset load(const ReadRequest& request) const = 0;
};

}  // namespace fedvg
