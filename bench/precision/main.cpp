// Scores of the same client models in float32 and in bfloat16.
//
//   fedvg-precision CONFIG.toml [KEY=VALUE]...
//
// Every non-empty client trains alone from the initial model in float32, as in a round 1 in which
// all take part (no random stream depends on who else does). Two more federations, one in float32
// and one in bf16, take each client's model as their global one and score it after a step of a
// learning rate so small that no number changes. Prints a CSV line a client as it ends, and at the
// end Spearman's correlation of the scores on standard error.

#include <atomic>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "fedvg/error.h"
#include "measuring_program.h"
#include "precision/rank_correlation.h"
#include "run/csv.h"
#include "run/experiment.h"

namespace {

using namespace fedvg;

constexpr const char* kTrain[] = {"method.name=fedavg", "train.participation=1",
                                  "engine.precision=float32"};
constexpr const char* kScore32[] = {"method.name=fedvg", "train.participation=1", "train.steps=1",
                                    "train.optimizer.lr=1e-30", "engine.precision=float32"};
constexpr const char* kScore16[] = {"method.name=fedvg", "train.participation=1", "train.steps=1",
                                    "train.optimizer.lr=1e-30", "engine.precision=bf16"};

/// u of the model, trained on by nobody: absent where it was refused.
std::optional<double> score_of(const std::vector<NamedArray>& model, std::int64_t client,
                               Federation& federation) {
  federation.load_model(model);
  const std::atomic<bool> never = false;
  const RoundRecord record = federation.run_round(1, {client}, never);
  if (record.clients[0].status != "ok") return std::nullopt;
  return record.clients[0].score;
}

void measure(std::span<char* const> arguments) {
  const auto settings = arguments.subspan(1);
  Experiment training(configuration_of(arguments[0], settings, kTrain), "cpu");
  Experiment in_float32(configuration_of(arguments[0], settings, kScore32), "cpu");
  Experiment in_bf16(configuration_of(arguments[0], settings, kScore16), "cpu");
  const std::atomic<bool> never = false;
  const auto initial = training.federation().model();
  const auto sizes = client_sizes(training.data());
  std::vector<double> float32, bf16;
  std::printf("client,samples,score_float32,score_bf16\n");
  for (std::int64_t client = 0; client < std::ssize(sizes); ++client) {
    if (sizes[static_cast<std::size_t>(client)] == 0) continue;
    training.federation().load_model(initial);
    if (training.federation().run_round(1, {client}, never).is_void) continue;
    const auto model = training.federation().model();
    const auto one = score_of(model, client, in_float32.federation());
    const auto other = score_of(model, client, in_bf16.federation());
    CsvLine line;
    line.add(client).add(sizes[static_cast<std::size_t>(client)]).add(one).add(other);
    std::fputs(line.text().c_str(), stdout);
    std::fflush(stdout);
    if (!one || !other) continue;
    float32.push_back(*one);
    bf16.push_back(*other);
  }
  std::fprintf(stderr, "Spearman's correlation over %zu clients: %.6f\n", float32.size(),
               rank_correlation(float32, bf16));
}

}  // namespace

int main(int argc, char** argv) {
  return fedvg::run_measuring_program(argc, argv, 1, "fedvg-precision CONFIG.toml", measure);
}
