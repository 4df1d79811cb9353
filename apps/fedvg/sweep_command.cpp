#include <memory>

#include "commands.h"
#include "fedvg/error.h"
#include "run/console.h"
#include "run/stop_signals.h"
#include "run/sweep/sweep_folder.h"
#include "run/sweep/sweep_plan.h"
#include "run/sweep/sweep_runner.h"

namespace fedvg {
namespace {

struct SweepArguments {
  std::filesystem::path file;
  ConfigurationArguments configuration;
  std::string out;
  std::int64_t jobs = 0;
  bool out_given = false, jobs_given = false, dry_run = false;
};

void check(const SweepArguments& arguments) {
  std::vector<std::string> problems;
  if (arguments.out_given && arguments.out.empty()) {
    problems.emplace_back("--out: wanted the name of a folder, got nothing");
  }
  if (arguments.jobs_given && arguments.jobs < 1) {
    problems.push_back("--jobs: must be >= 1, got " + std::to_string(arguments.jobs));
  }
  if (!problems.empty()) throw OptionError(problems);
}

SweepPlan plan(const SweepArguments& arguments, const std::string& out) {
  SweepFile file = read_sweep_file(arguments.file);
  if (!out.empty()) file.out = out;
  return plan_sweep(std::move(file), arguments.configuration.overrides());
}

void sweep(const SweepArguments& arguments) {
  check(arguments);
  const StopSignals signals;
  std::filesystem::path out = arguments.out;
  if (!out.has_filename()) out = out.parent_path();  // "folder/"
  const SweepPlan planned = plan(arguments, out.string());
  Console console;
  for (const auto& note : planned.notes) console.say("note: " + note);
  if (arguments.dry_run) {
    SweepFolder::check(planned.file.out, planned);
    for (const auto& line : sweep_lines(planned, planned.file.out)) console.print(line);
    return;
  }
  SweepFolder folder(planned.file.out);
  if (folder.write(planned)) {
    console.say("note: " + folder.path().string() +
                " was of another sweep: its runs that are planned now, with the same settings, are "
                "kept; others stay beside them");
  }
  run_sweep(planned, folder, {.jobs = arguments.jobs, .device = arguments.configuration.device()},
            console, signals.requested());
}

}  // namespace

void add_sweep_command(CLI::App& program) {
  auto& command =
      *program.add_subcommand("sweep", "many runs: every combination of settings, several seeds");
  const auto arguments = std::make_shared<SweepArguments>();
  command.add_option("SWEEP.toml", arguments->file, "base, [grid], [zip], seeds; docs/sweeps.md")
      ->type_name("")
      ->required();
  arguments->configuration.add_settings_to(command);
  auto* out = command
                  .add_option("--out", arguments->out,
                              "folder of the sweep; default: out in the file, else sweeps/NAME")
                  ->type_name("DIR");
  auto* jobs = command
                   .add_option("--jobs", arguments->jobs,
                               "runs at a time; default: one a core where there are so many, else "
                               "one after another with all cores")
                   ->type_name("N");
  command.add_flag("--dry-run", arguments->dry_run, "show the runs, start nothing");
  arguments->configuration.add_machine_to(command);
  command.footer(
      "Every run has a folder of its own in the sweep's, named by what it sets. Finished runs are\n"
      "skipped, and runs that were stopped or killed go on from their checkpoints, so the same\n"
      "command may be given again at any time. Ctrl-C stops all runs; one that fails stops no\n"
      "other. Results do not depend on --jobs and --workers.\n\n"
      "Example:\n  fedvg sweep alpha.toml --jobs 2\n"
      "  fedvg compare sweeps/alpha --rows method --columns partition.alpha");
  command.callback([arguments, out, jobs] {
    arguments->out_given = out->count() > 0;
    arguments->jobs_given = jobs->count() > 0;
    sweep(*arguments);
  });
}

}  // namespace fedvg
