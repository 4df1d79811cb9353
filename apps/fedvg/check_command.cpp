#include <memory>

#include "commands.h"
#include "run/console.h"
#include "run/experiment.h"
#include "run/memory_estimate.h"

namespace fedvg {
namespace {

// Builds all that a run would build, so that nothing is left for the run to refuse.
void check(const ConfigurationArguments& arguments) {
  const Experiment experiment(arguments.load(), arguments.device());
  Console console;
  for (const auto& note : experiment.notes()) console.say("note: " + note);
  console.print(experiment.configuration().text() + "\n# " + memory_estimate(experiment).text());
}

}  // namespace

void add_check_command(CLI::App& program) {
  auto& command = *program.add_subcommand(
      "check", "the resolved configuration, its memory, and what is wrong with it");
  const auto arguments = std::make_shared<ConfigurationArguments>();
  arguments->add_to(command);
  arguments->add_machine_to(command);
  command.footer(
      "Reads the data and builds the model, trains nothing and writes nothing. The output is a\n"
      "configuration with every default filled in.\n\n"
      "Example:\n  fedvg check fmnist.toml --set partition.alpha=0.05 > resolved.toml");
  command.callback([arguments] { check(*arguments); });
}

}  // namespace fedvg
