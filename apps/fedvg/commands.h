#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "run/configuration.h"
#include "run/malloc_settings.h"

// The subcommands: each file declares one command's arguments and carries it out when it
// was given. Results go to standard output, messages to standard error; a fault is thrown
// as an fedvg::Error and becomes an exit code in program.cpp.

namespace fedvg {

void add_run_command(CLI::App& program, const MallocSettings& malloc);
void add_sweep_command(CLI::App& program);
void add_compare_command(CLI::App& program);
void add_check_command(CLI::App& program);
void add_list_command(CLI::App& program);
void add_partition_command(CLI::App& program);
void add_evaluate_command(CLI::App& program);
void add_bench_command(CLI::App& program, const MallocSettings& malloc);

/// CONFIG.toml and what the command line changes of it, for every command that takes one.
class ConfigurationArguments {
 public:
  /// Adds CONFIG.toml and --set.
  void add_to(CLI::App& command);
  /// Adds --data CONFIG.toml, which may be left out, and --set.
  void add_data_to(CLI::App& command);
  /// Adds --set alone, for load_text().
  void add_settings_to(CLI::App& command);
  /// Adds --workers and --device.
  void add_machine_to(CLI::App& command);

  /// Throws OptionError with every mistake.
  Configuration load() const;
  /// The same of TOML that the program holds; `name` stands for the file in messages.
  Configuration load_text(const std::string& text, const std::string& name) const;
  /// --set and --workers, for what is loaded elsewhere. Throws OptionError with every mistake in
  /// them and in --device.
  std::vector<config::Override> overrides() const;
  const std::filesystem::path& file() const { return file_; }
  void set_file(const std::filesystem::path& file) { file_ = file; }
  const std::string& device() const { return device_; }

 private:
  using Overrides = std::vector<config::Override>;
  Overrides read_overrides(std::vector<std::string>& problems) const;
  Configuration load_with(const std::function<Configuration(const Overrides&)>& load) const;

  std::filesystem::path file_;
  std::vector<std::string> assignments_;
  std::string workers_;  // empty: not given
  std::string device_ = "cpu";
};

}  // namespace fedvg
