#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/testing.h"

namespace fedvg {

/// A run that nobody made.
struct MadeUp {
  std::string method = "fedavg";
  int seed = 1;
  std::vector<std::string> accuracies = {};  // of each round; "" was not measured
  std::string alpha = "0.1";
  std::string weighting = "size";
  int epochs = 1;
  int rounds = 0;  // as configured; 0: as many as there are accuracies
  int workers = 2;
  bool voided = false;
  std::string more = {};  // further lines of config.toml
};

/// Folders of runs in a folder of the test's own.
class MadeUpRuns : public ::testing::Test {
 protected:
  /// rounds.csv with test_accuracy, test_loss 1.5, weight_max; 10 bytes down, 5 up a round.
  std::filesystem::path run(const std::string& name, const MadeUp& run) const {
    const int rounds = run.rounds ? run.rounds : static_cast<int>(run.accuracies.size());
    const auto config = folder_.file(
        name + "/config.toml",
        "seed = " + std::to_string(run.seed) + "\n[partition]\nalpha = " + run.alpha +
            "\n[train]\nrounds = " + std::to_string(rounds) +
            "\nepochs = " + std::to_string(run.epochs) + "\n[method]\nname = \"" + run.method +
            "\"\nweighting = {name = \"" + run.weighting +
            "\"}\n[engine]\nworkers = " + std::to_string(run.workers) + "\n" + run.more);
    std::string csv = "round,test_accuracy,test_loss,weight_max,bytes_down,bytes_up\n";
    for (std::size_t i = 0; i < run.accuracies.size(); ++i) {
      csv += std::to_string(i + 1) + "," + run.accuracies[i] + ",1.5," +
             (run.voided && i == 0 ? "" : "0.5") + ",10,5\n";
    }
    folder_.file(name + "/rounds.csv", csv);
    return config.parent_path();
  }

  /// Another rounds.csv.
  void rounds(const std::string& name, const std::string& csv) const {
    folder_.file(name + "/rounds.csv", csv);
  }

  TestFolder folder_;
};

}  // namespace fedvg
