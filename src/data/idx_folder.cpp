#include "data/idx_folder.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "data/idx.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

using Path = std::filesystem::path;

std::vector<std::string> file_names(const Path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) {
    throw DataError(folder.string() + " does not exist; data.path is the folder of the IDX files");
  }
  if (!std::filesystem::is_directory(folder, error)) {
    throw DataError(folder.string() + " is not a folder; data.path is the folder of the IDX files");
  }
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) names.push_back(entry->path().filename().string());
  }
  if (error) throw DataError(folder.string() + " cannot be read: " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

bool fits(std::string name, std::string_view ending) {
  if (name.ends_with(".gz")) name.erase(name.size() - 3);
  if (const auto dot = name.rfind(".idx"); dot != std::string::npos) name[dot] = '-';
  if (!name.ends_with(ending)) return false;
  name.erase(name.size() - ending.size());
  return name.empty() || name.ends_with('-') || name.ends_with('_') || name.ends_with('.');
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

Path find_one(const Path& folder, const std::vector<std::string>& names,
              const std::vector<std::string>& endings) {
  std::vector<std::string> found;
  for (const auto& name : names) {
    const auto ends = [&](const std::string& ending) { return fits(name, ending); };
    if (std::any_of(endings.begin(), endings.end(), ends)) found.push_back(name);
  }
  if (found.empty()) {
    throw DataError(folder.string() + " has no " + joined(endings) +
                    " (looked for files whose names end so, with or without .gz)");
  }
  if (found.size() > 1) {
    throw DataError(folder.string() + " has several files that fit " + endings.front() + ": " +
                    joined(found) + "; keep the wanted one in a folder of its own");
  }
  return folder / found.front();
}

Samples read_pair(const Path& images, const Path& labels) {
  return samples_from_idx(read_idx(images, IdxContent::images),
                          read_idx(labels, IdxContent::labels), images.string(), labels.string());
}

}  // namespace

Dataset read_idx_folder(const Path& folder) {
  const auto names = file_names(folder);
  const Path training_images = find_one(folder, names, {"train-images-idx3-ubyte"});
  const Path training_labels = find_one(folder, names, {"train-labels-idx1-ubyte"});
  const Path test_images =
      find_one(folder, names, {"t10k-images-idx3-ubyte", "test-images-idx3-ubyte"});
  const Path test_labels =
      find_one(folder, names, {"t10k-labels-idx1-ubyte", "test-labels-idx1-ubyte"});

  Dataset dataset;
  dataset.training = read_pair(training_images, training_labels);
  dataset.test = read_pair(test_images, test_labels);
  dataset.source = folder.string();
  return dataset;
}

}  // namespace fedvg
