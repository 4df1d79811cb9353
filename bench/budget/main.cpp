// What scoring.budget saves and what it costs: a run with the budget, and beside it the same
// clients scored on all of D_val.
//
//   fedvg-budget CONFIG.toml EVERY [KEY=VALUE]...
//
// In every EVERY-th round (0: never) a second federation without budget takes the global model and
// trains the same participants from it, which gives bitwise the same client models, and scores them
// on all of D_val: the weights that the budget stands for. Prints a CSV line a round as it ends:
//
//   scored, of           images of D_val that were scored on, and that there are
//   seconds_score        worker time / workers, as in rounds.csv
//   test_accuracy
//   error_mean, error_max   over accepted participants, |w / w_full - 1|; empty where not compared

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "measuring_program.h"
#include "run/csv.h"
#include "run/experiment.h"

namespace {

using namespace fedvg;

struct Errors {
  double mean = 0, max = 0;
};

Errors errors_of(const RoundRecord& part, const RoundRecord& full) {
  Errors errors;
  double count = 0;
  for (std::size_t k = 0; k < full.clients.size(); ++k) {
    if (full.clients[k].status != "ok") continue;
    const double error = std::abs(part.clients[k].weight / full.clients[k].weight - 1);
    errors.max = std::max(errors.max, error);
    errors.mean += error;
    ++count;
  }
  errors.mean /= count;
  return errors;
}

constexpr const char* kWithoutBudget[] = {"scoring.budget=0"};

void measure(std::span<char* const> arguments) {
  const std::int64_t every = std::atoll(arguments[1]);
  const auto settings = arguments.subspan(2);
  Experiment experiment(configuration_of(arguments[0], settings, {}), "cpu");
  std::optional<Experiment> full;
  if (every > 0) full.emplace(configuration_of(arguments[0], settings, kWithoutBudget), "cpu");
  const std::atomic<bool> never = false;
  std::printf("round,scored,of,seconds_score,test_accuracy,error_mean,error_max\n");
  for (std::int64_t round = 1; round <= experiment.configuration().train.rounds; ++round) {
    const auto cohort = experiment.cohorts().cohort(round);
    std::optional<RoundRecord> compared;
    if (full && round % every == 0) {
      full->federation().load_model(experiment.federation().model());
      compared = full->federation().run_round(round, cohort, never);
    }
    const RoundRecord record = experiment.federation().run_round(round, cohort, never);
    CsvLine line;
    line.add(round)
        .add(record.scored)
        .add(std::ssize(experiment.data().validation))
        .add(record.seconds_score)
        .add(experiment.federation().evaluate_test().accuracy);
    if (compared) {
      const Errors errors = errors_of(record, *compared);
      line.add(errors.mean).add(errors.max);
    } else {
      line.add("").add("");
    }
    std::fputs(line.text().c_str(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return fedvg::run_measuring_program(argc, argv, 2, "fedvg-budget CONFIG.toml EVERY", measure);
}
