#include "data/npz_set.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "data/class_counts.h"
#include "data/npy_samples.h"
#include "data/npz.h"
#include "data/test_holdout.h"
#include "data/wording.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

struct OfficialClasses {
  std::string_view set;
  std::vector<std::string> names;
};

const std::vector<OfficialClasses>& medmnist_classes() {
  static const std::vector<std::string> organs = {
      "bladder", "femur-left", "femur-right", "heart",    "kidney-left", "kidney-right",
      "liver",   "lung-left",  "lung-right",  "pancreas", "spleen"};
  static const std::vector<OfficialClasses> sets = {
      {"pathmnist",
       {"adipose", "background", "debris", "lymphocytes", "mucus", "smooth muscle",
        "normal colon mucosa", "cancer-associated stroma", "colorectal adenocarcinoma epithelium"}},
      {"dermamnist",
       {"actinic keratoses and intraepithelial carcinoma", "basal cell carcinoma",
        "benign keratosis-like lesions", "dermatofibroma", "melanoma", "melanocytic nevi",
        "vascular lesions"}},
      {"octmnist", {"choroidal neovascularization", "diabetic macular edema", "drusen", "normal"}},
      {"pneumoniamnist", {"normal", "pneumonia"}},
      {"retinamnist", {"0", "1", "2", "3", "4"}},
      {"breastmnist", {"malignant", "normal, benign"}},
      {"bloodmnist",
       {"basophil", "eosinophil", "erythroblast",
        "immature granulocytes(myelocytes, metamyelocytes and promyelocytes)", "lymphocyte",
        "monocyte", "neutrophil", "platelet"}},
      {"tissuemnist",
       {"Collecting Duct, Connecting Tubule", "Distal Convoluted Tubule",
        "Glomerular endothelial cells", "Interstitial endothelial cells", "Leukocytes", "Podocytes",
        "Proximal Tubule Segments", "Thick Ascending Limb"}},
      {"organamnist", organs},
      {"organcmnist", organs},
      {"organsmnist", organs}};
  return sets;
}

// Of "dermamnist.npz" and "dermamnist_224.npz"; empty for other names.
std::vector<std::string> classes_by_name(const std::string& path) {
  std::string stem = std::filesystem::path(path).stem().string();
  for (const std::string_view size : {"_64", "_128", "_224"}) {
    if (stem.ends_with(size)) stem.erase(stem.size() - size.size());
  }
  for (const auto& [set, names] : medmnist_classes()) {
    if (stem == set) return names;
  }
  return {};
}

bool has_medmnist_arrays(const NpzFile& file) {
  return file.has("train_images") && file.has("train_labels");
}

Samples medmnist_part(const NpzFile& file, const std::string& part) {
  const NpyArray labels = file.read(part + "_labels");
  NpyArray images = file.read(part + "_images");
  if (images.shape.size() == 4 && images.shape[3] != 1 && images.shape[3] != 3) {
    throw DataError(images.name + " has the shape " + images.shape_text() +
                    ": MedMNIST's 3D sets are not read, only images [N, height, width] and "
                    "[N, height, width, 3]");
  }
  return images_from_npy(std::move(images), labels);
}

void note_unused(const NpzFile& file, const std::vector<std::string>& used, Dataset& dataset) {
  std::vector<std::string> unused;
  for (const std::string& key : file.keys()) {
    if (std::find(used.begin(), used.end(), key) == used.end()) unused.push_back(key);
  }
  if (unused.empty()) return;
  dataset.notes.push_back("arrays of " + dataset.source + " that are not used: " + some_of(unused));
}

Samples samples_from(const NpzFile& file, const std::string& x, const std::string& y) {
  const NpyArray labels = file.read(y);
  NpyArray values = file.read(x);
  if (values.shape.size() == 2) return features_from_npy(values, labels);
  if (values.shape.size() < 2) {
    throw DataError(values.name + " has the shape " + values.shape_text() +
                    ", but samples are features [N, F] or uint8 images [N, height, width] or "
                    "[N, height, width, channels]");
  }
  return images_from_npy(std::move(values), labels);
}

// A pair of arrays: both, neither, or one that lacks its partner, which is refused.
bool has_pair(const NpzFile& file, const std::string& x, const std::string& y,
              const std::string& path) {
  if (file.has(x) == file.has(y)) return file.has(x);
  throw DataError(path + " has the array " + (file.has(x) ? x : y) + ", but no " +
                  (file.has(x) ? y : x));
}

void take_owners(const NpzFile& file, const std::string& column, Samples& training) {
  if (!file.has(column)) {
    throw OptionError("partition.column = \"" + column + "\": " + "the file has no such array; " +
                      "its arrays are " + some_of(file.keys()));
  }
  const NpyArray owners = file.read(column);
  if (owners.shape.size() != 1 || owners.shape[0] != training.size()) {
    throw DataError(owners.name + " has the shape " + owners.shape_text() + ", but there are " +
                    std::to_string(training.size()) + " training samples, one owner each");
  }
  training.owners = texts_of(owners);
}

bool same_shape(const Samples& a, const Samples& b) {
  return a.is_features == b.is_features && a.channels == b.channels && a.height == b.height &&
         a.width == b.width;
}

void check_part(const Samples& training, const Samples& part, const std::string& name,
                const std::string& path) {
  if (same_shape(training, part)) return;
  throw DataError(path + ": x_train and " + name + " differ in the shape of a sample");
}

// x_train and so on.
void read_divided(const NpzFile& file, const std::string& path, Dataset& dataset) {
  dataset.training = samples_from(file, "x_train", "y_train");
  if (!has_pair(file, "x_test", "y_test", path)) {
    throw DataError(path +
                    " has x_train and y_train, but no x_test and y_test; to have a test "
                    "set held out, name the arrays x and y");
  }
  dataset.test = samples_from(file, "x_test", "y_test");
  check_part(dataset.training, dataset.test, "x_test", path);
  if (!has_pair(file, "x_val", "y_val", path)) return;
  dataset.validation = samples_from(file, "x_val", "y_val");
  check_part(dataset.training, *dataset.validation, "x_val", path);
}

}  // namespace

Dataset read_medmnist(const std::string& path) {
  const NpzFile file(path);
  Dataset dataset;
  dataset.source = path;
  std::vector<std::string> used;
  for (const std::string part : {"train", "test", "val"}) {
    const std::string images = part + "_images", labels = part + "_labels";
    if (part == "val" && !file.has(images) && !file.has(labels)) continue;
    for (const std::string& key : {images, labels}) {
      used.push_back(key);
      if (file.has(key)) continue;
      throw DataError(path + " has no array " + key + ", as MedMNIST's layout has it; it has " +
                      some_of(file.keys()) +
                      (file.has("x") || file.has("x_train")
                           ? ": set data.name = \"npz\" for features or images with labels"
                           : ""));
    }
  }
  dataset.training = medmnist_part(file, "train");
  dataset.test = medmnist_part(file, "test");
  if (file.has("val_images")) dataset.validation = medmnist_part(file, "val");
  dataset.classes = classes_by_name(path);
  if (dataset.classes.empty()) dataset.classes = numbered_classes(dataset.training.labels);
  note_unused(file, used, dataset);
  return dataset;
}

Dataset read_npz_set(const std::string& path, const ReadRequest& request) {
  const NpzFile file(path);
  Dataset dataset;
  dataset.source = path;
  const bool divided = has_pair(file, "x_train", "y_train", path);
  if (divided) {
    read_divided(file, path, dataset);
  } else if (has_pair(file, "x", "y", path)) {
    dataset.training = samples_from(file, "x", "y");
  } else {
    throw DataError(path + " has neither x_train, y_train, x_test, y_test nor x, y; it has " +
                    some_of(file.keys()) +
                    (has_medmnist_arrays(file)
                         ? ": it is in MedMNIST's layout, set data.name = \"medmnist\""
                         : ""));
  }
  if (!request.owner_column.empty()) take_owners(file, request.owner_column, dataset.training);
  dataset.classes = numbered_classes(dataset.training.labels);
  std::vector<std::string> used = {request.owner_column};
  if (divided) {
    used.insert(used.end(), {"x_train", "y_train", "x_test", "y_test", "x_val", "y_val"});
  } else {
    used.insert(used.end(), {"x", "y"});
    hold_out_test(dataset, request);
  }
  note_unused(file, used, dataset);
  return dataset;
}

bool is_medmnist(const std::string& path) { return has_medmnist_arrays(NpzFile(path)); }

}  // namespace fedvg
