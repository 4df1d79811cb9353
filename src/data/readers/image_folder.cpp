// Any set of PNG and JPEG files in folders named after their classes, as torchvision's
// ImageFolder takes them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/folder_content.h"
#include "data/image_set.h"
#include "data/test_holdout.h"
#include "data/utf8.h"
#include "data/wording.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

constexpr const char* kExpected =
    "a folder of class folders with PNG or JPEG files, or of train/, test/ and optionally val/ "
    "with class folders in each";

struct ImageFolderOptions {
  std::string path;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("path", &ImageFolderOptions::path, FilePath{},
          "folder of class folders of PNG or JPEG files, or of train/, test/ and optionally val/ "
          "of them; without test/ a part is held out (data.test_ratio)");
  }
};

// Walks the folders and collects their files; classes are numbered at the end.
class Listing {
 public:
  Listing(std::filesystem::path root, bool by_client)
      : root_(std::move(root)), by_client_(by_client) {}

  void list(std::vector<std::string>& notes) {
    const FolderContent content = contents("");
    const bool divided = content.has_folder("train");
    if (!divided && (content.has_folder("test") || content.has_folder("val"))) {
      throw DataError(root_.string() + " has no folder train beside test or val; data.path is " +
                      kExpected);
    }
    list_training(divided ? "train" : "");
    if (divided) {
      for (const auto& [folder, part] :
           {std::pair("test", ImagePart::test), std::pair("val", ImagePart::validation)}) {
        if (content.has_folder(folder)) list_classes(folder, part, "");
      }
      for (const std::string& folder : content.folders) {
        if (folder == "train" || folder == "test" || folder == "val") continue;
        notes.push_back((root_ / folder).string() +
                        " is not used: beside train/ only test/ and val/ are");
      }
    }
    number_classes(notes);
    if (auto note = skipped_note(skipped_); !note.empty()) notes.push_back(std::move(note));
    for (const auto& note : unused_) notes.push_back(note);
  }

  ImageSet take_set() { return {.folder = root_, .files = std::move(files_)}; }
  std::vector<std::string> take_classes() { return std::move(classes_); }

 private:
  std::string full(const std::string& below) const {
    return below.empty() ? root_.string() : (root_ / below).string();
  }
  static std::string joined(const std::string& folder, const std::string& name) {
    return folder.empty() ? name : folder + "/" + name;
  }

  FolderContent contents(const std::string& folder) {
    FolderContent content = folder_content(full(folder));
    skipped_.insert(skipped_.end(), content.skipped.begin(), content.skipped.end());
    return content;
  }

  // Like contents(), of a folder that must have folders.
  FolderContent folders_of(const std::string& folder, const std::string& kind) {
    FolderContent content = contents(folder);
    if (content.folders.empty()) {
      throw DataError(full(folder) + " holds " +
                      (content.images.empty() ? "no " : "images, but no ") + kind +
                      " folders; data.path is " + kExpected);
    }
    for (const std::string& name : content.folders) {
      check_name(name, full(folder) + ": the " + kind + " folder is", "rename it");
    }
    if (!content.images.empty()) {
      unused_.push_back("images directly in " + full(folder) +
                        " are in no class and not used: " + some_of(content.images));
    }
    return content;
  }

  void list_training(const std::string& folder) {
    if (!by_client_) {
      list_classes(folder, ImagePart::training, "");
      return;
    }
    for (const std::string& client : folders_of(folder, "client").folders) {
      list_classes(joined(folder, client), ImagePart::training, client);
    }
  }

  void list_classes(const std::string& folder, ImagePart part, const std::string& owner) {
    for (const std::string& name : folders_of(folder, "class").folders) {
      list_images(joined(folder, name), name, part, owner);
    }
  }

  void list_images(const std::string& folder, const std::string& class_name, ImagePart part,
                   const std::string& owner) {
    const FolderContent content = contents(folder);
    if (content.images.empty() && !content.folders.empty()) {
      throw DataError(
          full(folder) + " should hold the images of class " + class_name +
          ", but holds folders (" + some_of(content.folders) +
          "). For train/CLIENT/CLASS/ set partition.scheme = \"natural\", or \"file\" for a "
          "partition file, and partition.column = \"folder\"; for Tiny ImageNet set data.name = "
          "\"tiny-imagenet\"");
    }
    if (content.images.empty() && part == ImagePart::training && !by_client_) {
      throw DataError(full(folder) +
                      " holds no PNG or JPEG file: remove the folder, or put the "
                      "images of class " +
                      class_name + " into it");
    }
    if (!content.folders.empty()) {
      unused_.push_back("folders in " + full(folder) +
                        " are not used: " + some_of(content.folders));
    }
    class_folders_[part].emplace(class_name, folder);
    for (const std::string& image : content.images) {
      files_.push_back({.name = joined(folder, image), .part = part, .owner = owner});
      class_of_file_.push_back(class_name);
    }
  }

  // The training folders rule; a class that only they have is fine.
  void number_classes(std::vector<std::string>& notes) {
    for (const auto& [name, folder] : class_folders_[ImagePart::training]) {
      classes_.push_back(name);
    }
    for (const ImagePart part : {ImagePart::test, ImagePart::validation}) {
      for (const auto& [name, folder] : class_folders_[part]) {
        if (std::ranges::binary_search(classes_, name)) continue;
        throw DataError(full(folder) + ": the training folders have no class " + name +
                        "; theirs are " + some_of(classes_));
      }
    }
    std::set<std::string> tested;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto found = std::ranges::lower_bound(classes_, class_of_file_[i]);
      files_[i].label = found - classes_.begin();
      if (files_[i].part == ImagePart::test) tested.insert(class_of_file_[i]);
    }
    std::vector<std::string> untested;
    std::ranges::set_difference(classes_, tested, std::back_inserter(untested));
    if (!tested.empty() && !untested.empty()) {
      notes.push_back("the test set has no image of class " + some_of(untested));
    }
  }

  std::filesystem::path root_;
  bool by_client_;
  std::vector<ImageFile> files_;
  std::vector<std::string> class_of_file_;
  std::map<ImagePart, std::map<std::string, std::string>> class_folders_;  // name, a folder
  std::vector<std::string> classes_, skipped_, unused_;
};

bool has_part(const ImageSet& set, ImagePart part) {
  return std::ranges::any_of(set.files, [&](const ImageFile& file) { return file.part == part; });
}

// Makes a stratified share of the training images the test set.
std::string hold_out_test(ImageSet& set, std::int64_t classes, const ReadRequest& request) {
  IndexList pool;
  std::vector<std::int64_t> labels;
  for (const ImageFile& file : set.files) {
    if (file.part == ImagePart::training) pool.push_back(std::ssize(labels));
    labels.push_back(file.label);
  }
  const IndexList test = drawn_test(pool, labels, classes, request);
  if (test.empty() || test.size() == pool.size()) {
    throw DataError(set.folder.string() + " has no test images, and data.test_ratio = " +
                    Value(request.test_ratio).text() + " of its " + std::to_string(pool.size()) +
                    " images is " + (test.empty() ? "none" : "all of them") +
                    ": make folders train/ and test/, or change data.test_ratio");
  }
  for (const std::int64_t index : test) {
    set.files[static_cast<std::size_t>(index)].part = ImagePart::test;
    set.files[static_cast<std::size_t>(index)].owner.clear();
  }
  return holdout_note(std::ssize(test), std::to_string(pool.size()) + " images", request) +
         set.folder.string() + " has no test folder with images";
}

class ImageFolder final : public DatasetReader {
 public:
  explicit ImageFolder(const ImageFolderOptions& options) : options_(options) {
    if (options.path.empty()) {
      throw OptionError(std::string("data.name = \"image-folder\" needs data.path, ") + kExpected);
    }
  }

 private:
  Dataset load(const ReadRequest& request) const override {
    if (!request.owner_column.empty() && request.owner_column != "folder") {
      throw OptionError("partition.column = \"" + request.owner_column +
                        "\": an image folder has no columns; \"folder\" takes the clients from "
                        "train/CLIENT/CLASS/");
    }
    require_folder(options_.path, kExpected);
    Dataset dataset;
    Listing listing(options_.path, !request.owner_column.empty());
    listing.list(dataset.notes);
    ImageSet set = listing.take_set();
    dataset.name = "image-folder";
    dataset.source = options_.path;
    dataset.classes = listing.take_classes();
    if (!has_part(set, ImagePart::test)) {
      dataset.notes.push_back(hold_out_test(set, std::ssize(dataset.classes), request));
    }
    read_images(set, request, dataset);
    return dataset;
  }

  ImageFolderOptions options_;
};

FEDVG_REGISTER(DatasetReader, "image-folder", ImageFolder, ImageFolderOptions,
               "PNG and JPEG files in folders named after their classes");

}  // namespace
}  // namespace fedvg
