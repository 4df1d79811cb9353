#include "data/folder_content.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>

#include "data/file_bytes.h"
#include "data/wording.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::array kImages = {".png", ".jpg", ".jpeg", ".jpe", ".jfif"};
constexpr std::array kOtherImages = {".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm",
                                     ".pgm", ".pnm", ".jp2", ".heic", ".avif", ".dcm"};

std::string small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

template <class Extensions>
bool has_extension(const std::string& name, const Extensions& extensions) {
  const std::string ending = small_letters(std::filesystem::path(name).extension().string());
  return std::ranges::find(extensions, ending) != extensions.end();
}

bool left_by_tools(const std::string& name) {
  return name.starts_with('.') || name == "__MACOSX" || name == "__pycache__";
}

}  // namespace

bool FolderContent::has_folder(const std::string& name) const {
  return std::ranges::binary_search(folders, name);
}

FolderContent folder_content(const std::filesystem::path& folder) {
  FolderContent content;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (left_by_tools(name)) {
      content.skipped.push_back(name);
    } else if (entry->is_directory(ignored)) {
      content.folders.push_back(name);
    } else if (has_extension(name, kImages)) {
      content.images.push_back(name);
    } else if (has_extension(name, kOtherImages)) {
      throw DataError(entry->path().string() +
                      " is an image, but only PNG and JPEG are read: convert it");
    } else {
      content.skipped.push_back(name);
    }
  }
  if (error) throw DataError(folder.string() + " cannot be read: " + error.message());
  for (auto* names : {&content.folders, &content.images, &content.skipped}) {
    std::ranges::sort(*names);
  }
  return content;
}

void require_folder(const std::filesystem::path& path, const std::string& expected) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return;
  const std::string wanted = "data.path is " + expected;
  if (!std::filesystem::exists(status)) {
    throw DataError(path.string() + " does not exist; " + wanted);
  }
  const std::string what =
      std::filesystem::is_regular_file(status) ? describe_file(path) : "a special file";
  const bool packed = what.ends_with("archive") || what.ends_with("data");
  throw DataError(path.string() + " is " + what + ", not a folder; " + wanted +
                  (packed ? ": unpack it first" : ""));
}

std::string skipped_note(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return std::to_string(names.size()) +
         (names.size() == 1 ? " file that is no image was skipped: "
                            : " files that are no images were skipped: ") +
         some_of(names, 3);
}

}  // namespace fedvg
