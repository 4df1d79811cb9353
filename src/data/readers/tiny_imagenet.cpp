// Tiny ImageNet (Stanford CS231n): 100,000 + 10,000 JPEG images of 64 x 64 pixels in 200 of
// ImageNet's classes, as the publisher's archive unpacks. Its test images have no labels, so
// its validation images are the test set, as everywhere.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "data/file_bytes.h"
#include "data/folder_content.h"
#include "data/image_set.h"
#include "data/utf8.h"
#include "data/wording.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

constexpr const char* kExpected =
    "the folder tiny-imagenet-200, with wnids.txt, words.txt, train/ and val/";

struct TinyImageNetOptions {
  std::string path;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("path", &TinyImageNetOptions::path, FilePath{},
          "folder of wnids.txt, words.txt, train/ and val/");
  }
};

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw DataError(path.string() + " does not exist; data.path is " + kExpected);
  }
  const auto bytes = read_file_bytes(path);
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// Up to the tabulator, and behind it.
std::pair<std::string, std::string> cut(const std::string& line) {
  const auto tab = line.find('\t');
  if (tab == std::string::npos) return {line, ""};
  return {line.substr(0, tab), line.substr(tab + 1)};
}

// A list names what lies in a folder, nothing elsewhere.
void check_entry(const std::string& name, const std::string& place) {
  if (name.find('/') == std::string::npos && name != "." && name != "..") return;
  throw DataError(place + escaped(name) + " is a path; a name in the folder is wanted");
}

std::map<std::string, std::int64_t> numbered(const std::vector<std::string>& wnids,
                                             const std::filesystem::path& path) {
  if (wnids.empty()) throw DataError(path.string() + " is empty; it lists the classes");
  std::map<std::string, std::int64_t> labels;
  for (const std::string& wnid : wnids) {
    check_entry(wnid, path.string() + ": ");
    if (labels.emplace(wnid, std::ssize(labels)).second) continue;
    throw DataError(path.string() + " lists " + wnid + " twice");
  }
  return labels;
}

// The first of the words of each class; beside its number where two classes share it.
std::vector<std::string> class_names(const std::vector<std::string>& wnids,
                                     const std::filesystem::path& words) {
  std::map<std::string, std::string> word_of;
  for (const std::string& line : lines_of(words)) {
    const auto [wnid, names] = cut(line);
    word_of.emplace(wnid, names.substr(0, names.find(',')));
  }
  std::map<std::string, int> uses;
  for (const std::string& wnid : wnids) ++uses[word_of[wnid]];
  std::vector<std::string> names;
  for (const std::string& wnid : wnids) {
    const std::string& word = word_of[wnid];
    names.push_back(word.empty() ? wnid : uses[word] > 1 ? word + " (" + wnid + ")" : word);
  }
  return names;
}

class TinyImageNet final : public DatasetReader {
 public:
  explicit TinyImageNet(const TinyImageNetOptions& options) : root_(options.path) {
    if (options.path.empty()) {
      throw OptionError(std::string("data.name = \"tiny-imagenet\" needs data.path, ") + kExpected);
    }
  }

 private:
  Dataset load(const ReadRequest& request) const override {
    require_folder(root_, kExpected);
    const auto wnids = lines_of(root_ / "wnids.txt");
    const auto labels = numbered(wnids, root_ / "wnids.txt");
    Dataset dataset;
    dataset.name = "tiny-imagenet";
    dataset.source = root_.string();
    dataset.classes = class_names(wnids, root_ / "words.txt");
    ImageSet set{.folder = root_, .files = {}, .rgb = true};
    list_training(wnids, set.files);
    list_test(labels, set.files, dataset.notes);
    dataset.notes.push_back(
        "test set: the images of val/, since the publisher's test images have no labels");
    read_images(set, request, dataset);
    return dataset;
  }

  void list_training(const std::vector<std::string>& wnids, std::vector<ImageFile>& files) const {
    const FolderContent training = folder_content(existing("train"));
    for (std::size_t label = 0; label < wnids.size(); ++label) {
      const std::string folder = "train/" + wnids[label] + "/images";
      const auto images = folder_content(existing(folder)).images;
      if (images.empty()) throw DataError((root_ / folder).string() + " holds no images");
      for (const std::string& image : images) {
        files.push_back({.name = folder + "/" + image, .label = static_cast<std::int64_t>(label)});
      }
    }
    const std::set<std::string> known(wnids.begin(), wnids.end());
    for (const std::string& folder : training.folders) {
      if (known.contains(folder)) continue;
      throw DataError((root_ / "train" / folder).string() + ": wnids.txt has no class " + folder);
    }
  }

  void list_test(const std::map<std::string, std::int64_t>& labels, std::vector<ImageFile>& files,
                 std::vector<std::string>& notes) const {
    const auto list = root_ / "val" / "val_annotations.txt";
    std::set<std::string> annotated;
    std::int64_t number = 0;
    for (const std::string& line : lines_of(list)) {
      ++number;
      const auto [image, rest] = cut(line);
      const std::string wnid = cut(rest).first;
      const auto label = labels.find(wnid);
      if (label == labels.end()) {
        throw DataError(
            list.string() + ":" + std::to_string(number) + ": " +
            (wnid.empty() ? "no class behind the file's name" : "wnids.txt has no class " + wnid) +
            "; a line is file, class and box, with tabulators between");
      }
      check_entry(image, list.string() + ":" + std::to_string(number) + ": ");
      if (!annotated.insert(image).second) {
        throw DataError(list.string() + ":" + std::to_string(number) + ": " + image +
                        " is listed twice");
      }
      files.push_back(
          {.name = "val/images/" + image, .label = label->second, .part = ImagePart::test});
    }
    std::vector<std::string> unlisted;
    for (const std::string& image : folder_content(existing("val/images")).images) {
      if (!annotated.contains(image)) unlisted.push_back(image);
    }
    if (!unlisted.empty()) {
      notes.push_back("images that " + list.string() +
                      " does not list are not used: " + some_of(unlisted));
    }
  }

  std::filesystem::path existing(const std::string& folder) const {
    const auto path = root_ / folder;
    if (!std::filesystem::is_directory(path)) {
      throw DataError(path.string() + " does not exist or is no folder; data.path is " + kExpected);
    }
    return path;
  }

  std::filesystem::path root_;
};

FEDVG_REGISTER(DatasetReader, "tiny-imagenet", TinyImageNet, TinyImageNetOptions,
               "Tiny ImageNet: 100,000 + 10,000 RGB images, 64 x 64, 200 classes");

}  // namespace
}  // namespace fedvg
