#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/overrides.h"
#include "config/section.h"
#include "data/cohorts.h"
#include "data/corruption.h"
#include "data/data_options.h"
#include "engine/engine_options.h"
#include "fedvg/method.h"
#include "run/checkpoints/checkpoint_options.h"

namespace fedvg {

/// [report]
struct ReportOptions {
  std::int64_t layers_every = 10;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("layers_every", &ReportOptions::layers_every, at_least(0),
          "write layers.csv each so many rounds; 0: never");
  }
};

/// A whole experiment: what one TOML file and the command line ask for.
struct Configuration {
  std::uint64_t seed = 1;
  DataOptions data;
  PartitionOptions partition;
  ValidationOptions validation;
  CorruptionOptions corruption;
  Part model;
  std::string initial_model;  ///< model.init
  TrainOptions train;
  CohortOptions cohorts;
  Method method;
  ScoringOptions scoring;
  EvaluateOptions evaluate;
  CheckpointOptions checkpoint;
  EngineOptions engine;
  ReportOptions report;

  /// partition.clients where somebody wrote it, for load_federated_data().
  std::optional<std::int64_t> clients_given;
  Table resolved;                  ///< every option; see config/resolve.h
  std::vector<std::string> notes;  ///< to be said at start

  /// config.toml: as people write it, read again it is the same configuration.
  std::string text() const;
  /// Puts the number of clients that a partition file brought into `resolved`.
  void set_clients(std::int64_t clients);
};

/// Every [section], in the order in which they are written.
const std::vector<config::Section>& sections();

/// A document, resolved or as somebody wrote it, with every path in it made absolute, so that it
/// means the same from anywhere. What is no setting, or no text, stays as it is.
Table with_absolute_paths(Table document);

/// Reads a file, puts the overrides in, and checks everything. Paths in it count from the
/// current folder and become absolute. Throws OptionError with all mistakes at once,
/// each with its file and line.
Configuration load_configuration(const std::filesystem::path& file,
                                 const std::vector<config::Override>& overrides = {});

/// The same from TOML text; `name` stands for the file in messages.
Configuration load_configuration_text(std::string_view text, const std::string& name,
                                      const std::vector<config::Override>& overrides = {});

}  // namespace fedvg
