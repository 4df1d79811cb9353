#include "run/sweep/sweep_folder.h"

#include <system_error>

#include "fedvg/error.h"
#include "run/new_folder.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSweepFile = "sweep.toml";
constexpr const char* kBaseFile = "base.toml";
constexpr const char* kOption = "out, or --out";            // names another folder
constexpr const char* kWritten = "base = \"base.toml\"\n";  // what sweep_document() begins with

// Not to be taken for an option where it is an argument.
fs::path as_argument(const fs::path& path) {
  return path.string().starts_with('-') ? "." / path : path;
}

// Something beside a lock, which is there already, and what a dead process left.
void refuse_something_else(const fs::path& path) {
  if (text_in(path / kSweepFile).starts_with(kWritten)) return;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name == ".lock" || name.ends_with(".part")) continue;
    throw RunError(path.string() + ": exists and is not the folder of a sweep (it has no " +
                   kSweepFile + " of fedvg's); name another folder with " + kOption);
  }
}

// False where there is no such file, and when it has this content.
bool differs(const fs::path& path, const std::string& text) {
  return fs::exists(path) && text_in(path) != text;
}

// What the sweep is read from is not replaced by what becomes of it.
void refuse_to_replace(const fs::path& path, const std::string& text, const fs::path& read) {
  std::error_code different;
  if (!fs::equivalent(path, read, different) || different || !differs(path, text)) return;
  throw RunError(
      path.string() +
      ": the sweep is read from it, and it would be replaced by what fedvg writes there; "
      "name another folder with " +
      kOption);
}

void write_unless_there(const fs::path& path, const std::string& text) {
  if (!fs::exists(path) || differs(path, text)) write_whole_file(path, text);
}

}  // namespace

void SweepFolder::check(const fs::path& path, const SweepPlan& plan) {
  const fs::path folder = as_argument(path);
  check_can_be_made(folder, kOption);
  if (!fs::exists(folder)) return;
  refuse_something_else(folder);
  refuse_to_replace(folder / kSweepFile, sweep_document(plan), plan.file.path);
  refuse_to_replace(folder / kBaseFile, base_document(plan), plan.file.base);
}

SweepFolder::SweepFolder(const fs::path& path) : path_(as_argument(path)) {
  make_folder(path_, kOption);
  lock_.emplace(path_);
  refuse_something_else(path_);
}

bool SweepFolder::write(const SweepPlan& plan) {
  const std::string sweep = sweep_document(plan), base = base_document(plan);
  const fs::path sweep_path = path_ / kSweepFile, base_path = path_ / kBaseFile;
  refuse_to_replace(sweep_path, sweep, plan.file.path);
  refuse_to_replace(base_path, base, plan.file.base);
  const bool changed = differs(sweep_path, sweep) || differs(base_path, base);
  write_unless_there(sweep_path, sweep);  // first: it makes the folder that of a sweep
  write_unless_there(base_path, base);
  write_unless_there(path_ / "runs.json", runs_document(plan));
  make_folder(path_ / "logs", kOption);
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
