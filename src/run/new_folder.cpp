#include "run/new_folder.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "fedvg/error.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

fs::path whole(const fs::path& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();  // "folder/"
}

[[noreturn]] void refuse(const fs::path& path, const fs::path& culprit, const std::string& reason) {
  throw RunError(path.string() + ": cannot be created: " +
                 (culprit == whole(path) ? "" : culprit.string() + ": ") + reason);
}

std::string elsewhere(const std::string& option) { return "name another folder with " + option; }

}  // namespace

void check_can_be_made(const fs::path& path, const std::string& option) {
  std::error_code error;
  fs::path there = whole(path);
  for (; !fs::exists(there, error) && !error; there = there.parent_path()) {
    if (!fs::is_symlink(fs::symlink_status(there, error))) continue;
    const fs::path target = fs::read_symlink(there, error);
    refuse(path, there,
           "a symbolic link to " + target.string() +
               ", where there is nothing: put that back, remove the link, or " + elsewhere(option));
  }
  if (error) refuse(path, there, error.message() + "; " + elsewhere(option));
  if (!fs::is_directory(there, error)) refuse(path, there, "not a folder; " + elsewhere(option));
  if (there != whole(path) && ::access(there.c_str(), W_OK | X_OK) != 0) {
    refuse(path, there, std::generic_category().message(errno) + "; " + elsewhere(option));
  }
}

void make_folder(const fs::path& path, const std::string& option) {
  check_can_be_made(path, option);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) refuse(path, whole(path), error.message() + "; " + elsewhere(option));
}

}  // namespace fedvg
