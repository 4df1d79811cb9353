#include "run/run_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "fedvg/error.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

void refuse_existing(const fs::path& path) {
  throw RunError(path.string() +
                 " exists already: name another folder with --out, or remove this one");
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

RunFolder::RunFolder(const fs::path& path, const Documents& documents)
    : path_(path), class_names_(documents.classes) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  const bool created = !error && fs::create_directory(path, error);
  if (error) refuse_creation(path, path, error.message());
  if (!created) refuse_existing(path);
  try {
    write_documents(documents);
  } catch (...) {
    fs::remove_all(path, error);
    throw;
  }
}

void RunFolder::write_documents(const Documents& documents) {
  write_whole_file(path_ / "config.toml", documents.config);
  write_whole_file(path_ / "environment.json", documents.environment);
  write_whole_file(path_ / "partition.json", documents.partition);
  log_ = std::make_unique<LogFile>(path_ / "log.txt");
  clients_ = std::make_unique<GrowingFile>(path_ / "clients.csv");
  clients_->append(clients_header());
  layers_ = std::make_unique<GrowingFile>(path_ / "layers.csv");
  layers_->append(layers_header());
  classes_ = std::make_unique<GrowingFile>(path_ / "classes.csv");
  classes_->append(classes_header());
  rounds_ = std::make_unique<GrowingFile>(path_ / "rounds.csv");
  rounds_->append(rounds_header());
}

void RunFolder::add(const RoundResult& result, const std::vector<TensorInfo>& tensors) {
  const auto clients_size = clients_->size(), layers_size = layers_->size(),
             classes_size = classes_->size();
  try {
    clients_->append(clients_lines(result.record));
    layers_->append(layers_lines(result.record, tensors));
    classes_->append(classes_lines(result, class_names_));
    rounds_->append(rounds_line(result));  // last: what it names is there
  } catch (const RunError&) {
    clients_->cut_to(clients_size);
    layers_->cut_to(layers_size);
    classes_->cut_to(classes_size);
    throw;
  }
}

void RunFolder::write_confusion(const Confusion& confusion) {
  write_whole_file(path_ / "confusion.csv", confusion_table(confusion, class_names_));
}

void RunFolder::write_model(const std::vector<NamedArray>& model,
                            const std::map<std::string, std::string>& metadata) {
  WholeFile file(model_path());
  encode_safetensors(model, metadata,
                     [&](std::span<const std::byte> bytes) { file.append(bytes); });
  file.commit();
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
