#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/federation.h"
#include "run/folder_lock.h"
#include "run/growing_file.h"
#include "run/log_file.h"
#include "run/round_tables.h"

namespace fedvg {

/// What is in a run's tables, or was there when a checkpoint was written.
struct TableContents {
  FileBegin rounds, clients, layers, classes;
};

/// The folder of one run while the run goes on (docs/formats.md says what is in it), locked for
/// others. Whatever is in it is whole: documents and model are renamed into place, and of a
/// table either all lines of a round are there or none. Throws RunError naming the file when
/// something cannot be written.
class RunFolder {
 public:
  /// What is known before the first round, ready to be written.
  struct Documents {
    std::string config;                     ///< config.toml
    std::string environment;                ///< environment.json
    std::string partition;                  ///< partition.json
    std::vector<std::string> classes = {};  ///< names, for classes.csv and confusion.csv
  };

  /// Throws RunError when there is something at `path` already, or when it cannot be made
  /// for a reason that can be seen without making it. Creates nothing.
  static void check(const std::filesystem::path& path);
  /// Whether there is a run that can be continued. Throws RunError when `path` is something else
  /// than a run, an empty folder or nothing.
  static bool holds_run(const std::filesystem::path& path);
  /// Throws DataError naming the table when one of the run does not begin with that: lines are
  /// missing, or it is damaged.
  static void check_tables(const std::filesystem::path& path, const TableContents& tables);

  /// Creates the folder, with the folders above it, and writes the documents and the
  /// tables' headers. When that fails the folder is removed again.
  RunFolder(const std::filesystem::path& path, const Documents& documents);
  /// Goes on in a folder that holds_run(), `lock` of which is held: behind these tables, which
  /// check_tables() has seen, or from the start. Documents are written anew.
  RunFolder(const std::filesystem::path& path, std::unique_ptr<FolderLock> lock,
            const Documents& documents, const std::optional<TableContents>& tables);

  const std::filesystem::path& path() const { return path_; }
  LogFile& log() { return *log_; }

  TableContents tables() const;

  /// The lines of a finished round, in all tables or, on a full disk, in none.
  /// `tensors`: the model's, for layers.csv; empty: no lines there this round.
  void add(const RoundResult& result, const std::vector<TensorInfo>& tensors);

  /// confusion.csv, at the end of the run; empty: there is none of the model, and no file.
  void write_confusion(const Confusion& confusion);

  /// model.safetensors; what was there before stays until the new one is whole.
  void write_model(const std::vector<NamedArray>& model,
                   const std::map<std::string, std::string>& metadata);
  std::filesystem::path model_path() const { return path_ / "model.safetensors"; }
  /// best.safetensors, likewise: the model of the best round.
  void write_best_model(const std::vector<NamedArray>& model,
                        const std::map<std::string, std::string>& metadata);

  /// The tables onto the disk.
  void sync();

 private:
  void write_documents(const Documents& documents);
  void open_tables(const std::optional<TableContents>& tables);

  std::filesystem::path path_;
  std::unique_ptr<FolderLock> lock_;
  std::vector<std::string> class_names_;
  std::unique_ptr<LogFile> log_;
  std::unique_ptr<GrowingFile> rounds_, clients_, layers_, classes_;
};

/// `runs/CONFIGNAME-METHOD-sSEED`
std::filesystem::path default_run_folder(const std::string& configuration_name,
                                         const std::string& method, std::uint64_t seed);

}  // namespace fedvg
