#include "run/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "fedvg/error.h"
#include "run/tensor_file.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.toml";

struct TableFile {
  const char* name;
  std::int64_t TableSizes::*size;
  std::string (*header)();
};
constexpr TableFile kTables[] = {{"clients.csv", &TableSizes::clients, clients_header},
                                 {"layers.csv", &TableSizes::layers, layers_header},
                                 {"classes.csv", &TableSizes::classes, classes_header},
                                 {"rounds.csv", &TableSizes::rounds, rounds_header}};

void refuse_existing(const fs::path& path) {
  throw RunError(path.string() +
                 " exists already: continue the run in it with --resume, name another folder with "
                 "--out, or remove this one");
}

/// What a killed process left unfinished, of files that are renamed into place (WholeFile).
bool is_unfinished(const fs::path& path) {
  if (path.extension() != ".part") return false;
  const std::string name = path.filename().string();
  constexpr const char* kOwn[] = {
      "config.toml.",       "environment.json.", "partition.json.", "confusion.csv.", "run.json.",
      "model.safetensors.", "best.safetensors.", "round-",          "best-round-"};
  return std::ranges::any_of(kOwn, [&](const char* own) { return name.starts_with(own); });
}

void remove_unfinished(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> unfinished;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (is_unfinished(file.path())) unfinished.push_back(file.path());
  }
  for (const auto& path : unfinished) fs::remove(path, error);
}

void refuse_creation(const fs::path& path, const fs::path& culprit, const std::string& reason) {
  throw RunError(path.string() + ": cannot be created: " + culprit.string() + ": " + reason +
                 "; name another folder with --out");
}

}  // namespace

void RunFolder::check(const fs::path& path) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) refuse_existing(path);
  fs::path above = fs::absolute(path).lexically_normal();
  do {
    if (above == above.root_path()) return;
    above = above.parent_path();
  } while (!fs::exists(above, error) && !error);
  if (!fs::is_directory(above, error)) refuse_creation(path, above, "not a folder");
  if (::access(above.c_str(), W_OK | X_OK) != 0) {
    refuse_creation(path, above, std::generic_category().message(errno));
  }
}

bool RunFolder::holds_run(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return false;
  if (fs::exists(path / kConfig, error)) return true;
  if (fs::is_directory(path, error)) {
    const auto left_by_a_start = [](const auto& file) {
      return is_unfinished(file.path()) || file.path().filename() == ".lock";
    };
    const fs::directory_iterator content(path, error);
    if (!error && std::all_of(begin(content), end(content), left_by_a_start)) return false;
  }
  throw RunError(path.string() + ": not the folder of a run, there is no " + kConfig +
                 " in it: name another folder with --out");
}

void RunFolder::check_tables(const fs::path& path, const TableSizes& sizes) {
  for (const auto& [name, size, header] : kTables) {
    std::error_code error;
    const auto there = fs::file_size(path / name, error);
    if (!error && static_cast<std::int64_t>(there) >= sizes.*size) continue;
    throw DataError(
        (path / name).string() +
        (error ? ": missing" : ": shorter than the checkpoint says, lines are missing"));
  }
}

RunFolder::RunFolder(const fs::path& path, const Documents& documents)
    : path_(path), class_names_(documents.classes) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  fs::create_directory(path, error);
  if (error) refuse_creation(path, path, error.message());
  lock_ = std::make_unique<FolderLock>(path);
  if (holds_run(path)) refuse_existing(path);
  remove_unfinished(path);
  try {
    write_documents(documents);
    open_tables(std::nullopt);
  } catch (...) {
    fs::remove_all(path, error);
    throw;
  }
}

RunFolder::RunFolder(const fs::path& path, std::unique_ptr<FolderLock> lock,
                     const Documents& documents, const std::optional<TableSizes>& tables)
    : path_(path), lock_(std::move(lock)), class_names_(documents.classes) {
  remove_unfinished(path);
  remove_unfinished(path / "checkpoints");
  write_documents(documents);
  open_tables(tables);
}

void RunFolder::write_documents(const Documents& documents) {
  write_whole_file(path_ / kConfig, documents.config);
  write_whole_file(path_ / "environment.json", documents.environment);
  write_whole_file(path_ / "partition.json", documents.partition);
  log_ = std::make_unique<LogFile>(path_ / "log.txt");
}

void RunFolder::open_tables(const std::optional<TableSizes>& tables) {
  std::unique_ptr<GrowingFile>* const own[] = {&clients_, &layers_, &classes_, &rounds_};
  for (std::size_t i = 0; i < std::size(kTables); ++i) {
    const auto& [name, size, header] = kTables[i];
    if (tables) {
      *own[i] = std::make_unique<GrowingFile>(path_ / name, (*tables).*size);
      continue;
    }
    std::error_code ignored;
    fs::remove(path_ / name, ignored);  // of a run without a checkpoint
    *own[i] = std::make_unique<GrowingFile>(path_ / name);
    (*own[i])->append(header());
  }
}

TableSizes RunFolder::table_sizes() const {
  return {rounds_->size(), clients_->size(), layers_->size(), classes_->size()};
}

void RunFolder::add(const RoundResult& result, const std::vector<TensorInfo>& tensors) {
  const TableSizes before = table_sizes();
  try {
    clients_->append(clients_lines(result.record));
    layers_->append(layers_lines(result.record, tensors));
    classes_->append(classes_lines(result, class_names_));
    rounds_->append(rounds_line(result));  // last: what it names is there
  } catch (const RunError&) {
    clients_->cut_to(before.clients);
    layers_->cut_to(before.layers);
    classes_->cut_to(before.classes);
    throw;
  }
}

void RunFolder::write_confusion(const Confusion& confusion) {
  write_whole_file(path_ / "confusion.csv", confusion_table(confusion, class_names_));
}

void RunFolder::write_model(const std::vector<NamedArray>& model,
                            const std::map<std::string, std::string>& metadata) {
  write_tensor_file(model_path(), model, metadata);
}

void RunFolder::write_best_model(const std::vector<NamedArray>& model,
                                 const std::map<std::string, std::string>& metadata) {
  write_tensor_file(path_ / "best.safetensors", model, metadata);
}

void RunFolder::sync() {
  clients_->sync();
  layers_->sync();
  classes_->sync();
  rounds_->sync();
}

fs::path default_run_folder(const std::string& configuration_name, const std::string& method,
                            std::uint64_t seed) {
  return fs::path("runs") / (configuration_name + "-" + method + "-s" + std::to_string(seed));
}

}  // namespace fedvg
