// What scoring.budget saves and what it costs: a run with the budget, and beside it the same
// clients scored on all of D_val.
//
//   fedvg-budget CONFIG.toml EVERY [KEY=VALUE]...
//
// A method whose clients keep states (scaffold, feddyn, moon, ...) is for EVERY = 0 only.
// In every EVERY-th round (0: never) a second federation without budget takes the global model and
// trains the same participants from it, which gives bitwise the same client models, and scores them
// on all of D_val: the weights that the budget stands for. Prints a CSV line a round as it ends:
//
//   scored, of           images of D_val that were scored on, and that there are
//   seconds_score        worker time / workers, as in rounds.csv
//   test_accuracy
//   error_mean, error_max   over accepted participants, |w / w_full - 1|; empty where not compared

#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

#include "fedvg/error.h"
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

std::int64_t rounds_in(const std::string& text) {
  std::int64_t rounds = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rounds);
  if (error == std::errc() && end == text.data() + text.size() && rounds >= 0) return rounds;
  throw OptionError("EVERY: wanted a number of rounds, 0 for never, got '" + text + "'");
}

// The second federation runs a part of the rounds, so that its clients would remember other ones.
void refuse_client_states(Experiment& experiment) {
  if (experiment.federation().info().state_bytes == 0) return;
  throw OptionError("EVERY: method.name = \"" + experiment.configuration().method.name +
                    "\" keeps a state of each client, which full scoring of some rounds would not "
                    "have; write 0 for EVERY, or take a method without, such as fedvg");
}

constexpr const char* kWithoutBudget[] = {"scoring.budget=0"};

void measure(std::span<char* const> arguments) {
  const std::int64_t every = rounds_in(arguments[1]);
  const auto settings = arguments.subspan(2);
  Experiment experiment(configuration_of(arguments[0], settings, {}), "cpu");
  if (every > 0) refuse_client_states(experiment);
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
