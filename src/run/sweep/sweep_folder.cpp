#include "run/sweep/sweep_folder.h"

#include <fstream>
#include <iterator>
#include <system_error>

#include "fedvg/error.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSweepFile = "sweep.toml";

[[noreturn]] void refuse_creation(const fs::path& path, const std::string& reason) {
  throw RunError(path.string() + ": cannot be created: " + reason +
                 "; name another folder with out, or --out");
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) refuse_creation(path, error.message());
  if (!fs::is_directory(path, error)) refuse_creation(path, "it exists and is no folder");
}

// The lock is there already.
bool holds_something_else(const fs::path& path) {
  if (fs::exists(path / kSweepFile)) return false;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name != ".lock" && !name.ends_with(".part")) return true;
  }
  return false;
}

// False where there is no such file, and when it has this content.
bool differs(const fs::path& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  return in && std::string(std::istreambuf_iterator<char>(in), {}) != text;
}

void write_unless_there(const fs::path& path, const std::string& text) {
  if (!fs::exists(path) || differs(path, text)) write_whole_file(path, text);
}

}  // namespace

SweepFolder::SweepFolder(const fs::path& path)
    // Not to be taken for an option where it is an argument.
    : path_(path.string().starts_with('-') ? "." / path : path) {
  make_folder(path_);
  lock_.emplace(path_);
  if (holds_something_else(path_)) {
    throw RunError(path_.string() + ": exists and is not the folder of a sweep (it has no " +
                   kSweepFile + "); name another folder with out, or --out");
  }
}

bool SweepFolder::write(const SweepPlan& plan) {
  const std::string sweep = sweep_document(plan), base = base_document(plan);
  const bool changed = differs(path_ / kSweepFile, sweep) || differs(path_ / "base.toml", base);
  write_unless_there(path_ / kSweepFile, sweep);  // first: it makes the folder that of a sweep
  write_unless_there(path_ / "base.toml", base);
  write_unless_there(path_ / "runs.json", runs_document(plan));
  make_folder(path_ / "logs");
  return changed;
}

void SweepFolder::write_configuration(const SweepPlan& plan, const PlannedRun& run) {
  write_unless_there(configuration(run.name), run_document(plan, run));
}

fs::path SweepFolder::configuration(const std::string& name) const {
  return path_ / "logs" / (name + ".toml");
}

fs::path SweepFolder::log(const std::string& name) const {
  return path_ / "logs" / (name + ".txt");
}

}  // namespace fedvg
