#include <memory>

#include "commands.h"
#include "fedvg/error.h"
#include "run/simulation.h"
#include "run/stop_signals.h"

namespace fedvg {
namespace {

struct RunArguments {
  ConfigurationArguments configuration;
  std::string out;
  bool out_given = false, resume = false;
};

void run(const RunArguments& arguments, const MallocSettings& malloc) {
  if (arguments.out_given && arguments.out.empty()) {
    throw OptionError("--out: wanted the name of a folder, got nothing");
  }
  const StopSignals signals;
  RunRequest request{.configuration = arguments.configuration.load(),
                     .name = arguments.configuration.file().stem().string(),
                     .folder = {},
                     .resume = arguments.resume,
                     .device = arguments.configuration.device(),
                     .malloc = malloc};
  if (arguments.out_given) request.folder = arguments.out;
  Console console;
  run_simulation(std::move(request), console, signals.requested());
}

}  // namespace

void add_run_command(CLI::App& program, const MallocSettings& malloc) {
  auto& command = *program.add_subcommand("run", "train a federation as a configuration says");
  const auto arguments = std::make_shared<RunArguments>();
  arguments->configuration.add_to(command);
  auto* out = command
                  .add_option("--out", arguments->out,
                              "folder of the run, which must not exist, but with --resume; default "
                              "runs/CONFIGNAME-METHOD-sSEED")
                  ->type_name("DIR");
  arguments->configuration.add_machine_to(command);
  command.add_flag("--resume", arguments->resume,
                   "go on with the run in the folder behind its newest checkpoint; start it when "
                   "there is none, do nothing when it has ended");
  command.footer(
      "Writes config.toml, rounds.csv, clients.csv, layers.csv, model.safetensors and more into "
      "the folder.\nCtrl-C, SIGTERM and SIGHUP (a closed terminal) drop the round in progress and "
      "write a checkpoint\nof the last finished one; --resume goes on there. Where standard output "
      "is closed (| head) the run "
      "goes on, with\nlog.txt for what it prints.\n\n"
      "Example:\n  fedvg run fmnist.toml --set method.name=fedvg --set seed=2 --workers 2");
  command.callback([arguments, out, malloc] {
    arguments->out_given = out->count() > 0;
    run(*arguments, malloc);
  });
}

}  // namespace fedvg
