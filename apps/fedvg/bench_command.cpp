#include <memory>

#include "commands.h"
#include "fedvg/error.h"
#include "run/console.h"
#include "run/stop_signals.h"
#include "speed/measurement.h"
#include "speed/speed_report.h"
#include "speed/workloads.h"

namespace fedvg {
namespace {

struct BenchArguments {
  ConfigurationArguments configuration;
  std::string workload = "fmnist-cnn";
  std::string data;
  std::int64_t rounds = 5;
  bool list = false, json = false, data_given = false;
};

void bench(const BenchArguments& arguments, const MallocSettings& malloc) {
  Console console;
  if (arguments.list) {
    for (const auto& line : workload_lines()) console.print(line);
    return;
  }
  std::vector<std::string> problems;
  if (arguments.rounds < 1) {
    problems.push_back("--rounds: must be >= 1, got " + std::to_string(arguments.rounds));
  }
  if (arguments.data_given && arguments.data.empty()) {
    problems.emplace_back("--data: wanted the path of a data set, got nothing");
  }
  if (!problems.empty()) throw OptionError(problems);
  const StopSignals signals;
  const Workload& workload = workload_named(arguments.workload);
  const auto measurement =
      measure_speed({.configuration = arguments.configuration.load_text(
                         toml_of(workload, arguments.data), "workload " + arguments.workload),
                     .workload = arguments.workload,
                     .rounds = arguments.rounds,
                     .device = arguments.configuration.device(),
                     .malloc = malloc},
                    console, signals.requested());
  if (arguments.json) {
    console.print(speed_json(measurement));
    return;
  }
  for (const auto& line : speed_lines(measurement)) console.print(line);
}

}  // namespace

void add_bench_command(CLI::App& program, const MallocSettings& malloc) {
  auto& command = *program.add_subcommand(
      "bench", "a round by phase, and training and scoring against the stock libtorch loop");
  const auto arguments = std::make_shared<BenchArguments>();
  command.add_option("WORKLOAD", arguments->workload, "what is measured; --list shows them")
      ->type_name("")
      ->capture_default_str();
  command.add_flag("--list", arguments->list, "the workloads, one a line");
  command.add_option("--rounds", arguments->rounds, "measured rounds, after one that warms up")
      ->type_name("N")
      ->capture_default_str();
  auto* data = command
                   .add_option("--data", arguments->data,
                               "the workload's data set (its data.path) instead of random images")
                   ->type_name("PATH");
  command.add_flag("--json", arguments->json, "one JSON object instead of the table");
  arguments->configuration.add_settings_to(command);
  arguments->configuration.add_machine_to(command);
  command.footer(
      "Images per second and core, medians over the rounds. The stock loop (torch::nn,\n"
      "torch::optim::SGD, the better memory format) runs between them, in this process, on as\n"
      "many threads.\n\n"
      "Example:\n  fedvg bench cifar-resnet18 --rounds 7 --set engine.kernels=aten");
  command.callback([arguments, data, malloc] {
    arguments->data_given = data->count() > 0;
    bench(*arguments, malloc);
  });
}

}  // namespace fedvg
