#include "run/run_folder.h"

#include <algorithm>
#include <system_error>

#include "fedvg/error.h"
#include "run/new_folder.h"
#include "run/tensor_file.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.toml";
constexpr const char* kOption = "--out";  // names another folder

struct TableFile {
  const char* name;
  FileBegin TableContents::*content;
  std::string (*header)();
};
constexpr TableFile kTables[] = {{"clients.csv", &TableContents::clients, clients_header},
                                 {"layers.csv", &TableContents::layers, layers_header},
                                 {"classes.csv", &TableContents::classes, classes_header},
                                 {"rounds.csv", &TableContents::rounds, rounds_header}};

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

}  // namespace

void RunFolder::check(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error)) refuse_existing(path);
  check_can_be_made(path, kOption);
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

void RunFolder::check_tables(const fs::path& path, const TableContents& tables) {
  for (const auto& [name, content, header] : kTables) {
    const fs::path table = path / name;
    const FileBegin& wanted = tables.*content;
    if (!fs::exists(table)) throw DataError(table.string() + ": missing");
    const FileBegin there = begin_of(table, wanted.size);
    if (there == wanted) continue;
    throw DataError(table.string() +
                    (there.size < wanted.size
                         ? ": shorter than the checkpoint says, lines are missing"
                         : ": lines are not as they were at the checkpoint: changed, or damaged"));
  }
}

RunFolder::RunFolder(const fs::path& path, const Documents& documents)
    : path_(path), class_names_(documents.classes) {
  make_folder(path, kOption);
  lock_ = std::make_unique<FolderLock>(path);
  if (holds_run(path)) refuse_existing(path);
  remove_unfinished(path);
  try {
    write_documents(documents);
    open_tables(std::nullopt);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
    throw;
  }
}

RunFolder::RunFolder(const fs::path& path, std::unique_ptr<FolderLock> lock,
                     const Documents& documents, const std::optional<TableContents>& tables)
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

void RunFolder::open_tables(const std::optional<TableContents>& tables) {
  std::unique_ptr<GrowingFile>* const own[] = {&clients_, &layers_, &classes_, &rounds_};
  for (std::size_t i = 0; i < std::size(kTables); ++i) {
    const auto& [name, content, header] = kTables[i];
    if (tables) {
      *own[i] = std::make_unique<GrowingFile>(path_ / name, (*tables).*content);
      continue;
    }
    std::error_code ignored;
    fs::remove(path_ / name, ignored);  // of a run without a checkpoint
    *own[i] = std::make_unique<GrowingFile>(path_ / name);
    (*own[i])->append(header());
  }
}

TableContents RunFolder::tables() const {
  return {rounds_->content(), clients_->content(), layers_->content(), classes_->content()};
}

void RunFolder::add(const RoundResult& result, const std::vector<TensorInfo>& tensors) {
  const TableContents before = tables();
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
  if (confusion.empty()) {
    std::error_code ignored;
    fs::remove(path_ / "confusion.csv", ignored);
    return;
  }
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
  sync_folder(path_);
}

fs::path default_run_folder(const std::string& configuration_name, const std::string& method,
                            std::uint64_t seed) {
  return fs::path("runs") / (configuration_name + "-" + method + "-s" + std::to_string(seed));
}

}  // namespace fedvg
