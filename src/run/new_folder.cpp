#include "run/new_folder.h"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "fedvg/error.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

fs::path whole(const fs::path& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();  // "folder/"
}

// Why there can be no folder at a path.
struct Hindrance {
  fs::path culprit;  // the path, or one above it
  std::string reason;
  std::string remedy = "; ";  // before: name another folder
};

std::optional<Hindrance> find_hindrance(const fs::path& path) {
  std::error_code error;
  fs::path there = whole(path);
  for (; !fs::exists(there, error) && !error; there = there.parent_path()) {
    if (!fs::is_symlink(fs::symlink_status(there, error))) continue;
    const fs::path target = fs::read_symlink(there, error);
    return Hindrance{there, "a symbolic link to " + target.string() + ", where there is nothing",
                     ": put that back, remove the link, or "};
  }
  if (error) return Hindrance{there, error.message()};
  if (!fs::is_directory(there, error)) return Hindrance{there, "not a folder"};
  if (there != whole(path) && ::access(there.c_str(), W_OK | X_OK) != 0) {
    return Hindrance{there, std::generic_category().message(errno)};
  }
  return std::nullopt;
}

std::string text_of(const Hindrance& hindrance, const fs::path& path) {
  return "cannot be created: " +
         (hindrance.culprit == whole(path) ? "" : hindrance.culprit.string() + ": ") +
         hindrance.reason;
}

[[noreturn]] void refuse(const fs::path& path, const Hindrance& hindrance,
                         const std::string& option) {
  throw RunError(path.string() + ": " + text_of(hindrance, path) + hindrance.remedy +
                 "name another folder with " + option);
}

}  // namespace

std::string reason_against(const fs::path& path) {
  const auto hindrance = find_hindrance(path);
  return hindrance ? text_of(*hindrance, path) : "";
}

void check_can_be_made(const fs::path& path, const std::string& option) {
  if (const auto hindrance = find_hindrance(path)) refuse(path, *hindrance, option);
}

void make_folder(const fs::path& path, const std::string& option) {
  check_can_be_made(path, option);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) refuse(path, {whole(path), error.message()}, option);
}

}  // namespace fedvg
