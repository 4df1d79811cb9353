#include "data/foreign_set.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "config/nearest.h"
#include "data/cifar.h"
#include "data/csv_set.h"
#include "data/file_bytes.h"
#include "data/npz_set.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using Path = std::filesystem::path;

constexpr const char* recognised =
    "a file of CIFAR-10 or CIFAR-100 records, npz or CSV, or a folder of such a .bin file, of "
    "CIFAR-10, CIFAR-100, IDX files, Tiny ImageNet or class folders of images";

std::string format_of_file(const Path& path) {
  const std::string content = describe_file(path);
  if (content == "a zip archive") return is_medmnist(path.string()) ? "medmnist" : "npz";
  if (content == "text") return "csv";
  if (const auto layout = cifar_layout_of(path)) {
    return *layout == CifarLayout::cifar10 ? "cifar10" : "cifar100";
  }
  const bool packed = content.ends_with("archive") || content.ends_with("data");
  throw DataError(path.string() + " is " + content + ", in which no data set is recognised" +
                  (packed ? ": unpack it first" : "") + "; known are " + recognised);
}

bool is_idx_name(const Path& file) {
  return file.filename().string().find("-images-idx3-ubyte") != std::string::npos ||
         file.filename().string().find("-images.idx3-ubyte") != std::string::npos;
}

std::string format_of_folder(const Path& path) {
  const auto has = [&](const char* name) {
    std::error_code ignored;
    return std::filesystem::exists(path / name, ignored);
  };
  if (has("data_batch_1.bin") || has("test_batch.bin")) return "cifar10";
  if (has("train.bin") || has("test.bin")) return "cifar100";
  if (has("wnids.txt")) return "tiny-imagenet";
  bool folders = false;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (is_idx_name(entry->path())) return "idx";
    folders = folders || entry->is_directory(ignored);
  }
  if (error) throw DataError(path.string() + " cannot be read: " + error.message());
  if (folders) return "image-folder";
  throw DataError(path.string() + " is a folder in which no data set is recognised; known are " +
                  recognised);
}

void check_format(const std::string& format) {
  const auto parts = Catalog::instance().parts(DatasetReader::kind);
  std::vector<std::string> known = {"auto"};
  for (const PartInfo* part : parts) {
    if (part->name == format) return;
    known.push_back(part->name);
  }
  throw OptionError("validation.format: " + config::unknown_text("format", format, "", known));
}

bool is_cifar(const std::string& format) { return format == "cifar10" || format == "cifar100"; }

// The only .bin file of a folder that is no whole set; "auto" wants to know its layout.
std::optional<Path> single_cifar_file(const Path& folder, const std::string& format) {
  if (format != "auto" && !is_cifar(format)) return std::nullopt;
  std::optional<Path> single;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() != ".bin" || !entry->is_regular_file(ignored)) continue;
    if (single) return std::nullopt;
    single = entry->path();
  }
  if (single && format == "auto" && !cifar_layout_of(*single)) return std::nullopt;
  return single;
}

ForeignSet read_single_cifar(const Path& path, CifarLayout layout) {
  ForeignSet set;
  set.samples = read_cifar_files({path}, layout);
  set.classes = cifar_classes(path.parent_path(), layout);
  return set;
}

void append(Samples& samples, Samples&& more) {
  samples.pixels.insert(samples.pixels.end(), more.pixels.begin(), more.pixels.end());
  samples.labels.insert(samples.labels.end(), more.labels.begin(), more.labels.end());
  more = {};
}

Dataset read_by_reader(const Path& path, const std::string& format) {
  Table options;
  options.set("path", path.string());
  return Registry<DatasetReader>::instance().make(format, options)->read();
}

Dataset read_csv(const Path& path, const ForeignColumns& columns) {
  CsvFiles files{.training = path.string(),
                 .test = "",
                 .label = columns.label,
                 .ignored = columns.left_out,
                 .may_lack_ignored = true};
  std::erase(files.ignored, columns.label);
  return read_csv_set(files, {});
}

// Training part, then validation and test part.
ForeignSet put_together(Dataset dataset, const std::string& format) {
  ForeignSet set{.samples = std::move(dataset.training),
                 .classes = std::move(dataset.classes),
                 .format = format};
  if (dataset.validation) append(set.samples, std::move(*dataset.validation));
  append(set.samples, std::move(dataset.test));
  return set;
}

}  // namespace

ForeignSet read_foreign_set(const std::string& path, const std::string& format,
                            const ForeignColumns& columns) {
  if (format != "auto") check_format(format);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw DataError(path + " does not exist");
  bool folder = std::filesystem::is_directory(status);
  Path source = path;
  if (const auto single = folder ? single_cifar_file(source, format) : std::nullopt) {
    source = *single;
    folder = false;
  }
  const std::string found = format != "auto" ? format
                            : folder         ? format_of_folder(source)
                                             : format_of_file(source);
  if (is_cifar(found) && !folder) {
    ForeignSet set = read_single_cifar(
        source, found == "cifar10" ? CifarLayout::cifar10 : CifarLayout::cifar100);
    set.format = found;
    return set;
  }
  return put_together(found == "csv" ? read_csv(source, columns) : read_by_reader(source, found),
                      found);
}

}  // namespace fedvg
