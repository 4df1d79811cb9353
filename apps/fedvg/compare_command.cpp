#include <memory>

#include "commands.h"
#include "config/nearest.h"
#include "fedvg/error.h"
#include "run/compare.h"
#include "run/comparison_table.h"
#include "run/console.h"

namespace fedvg {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  CompareOptions options;
  std::string format = "text";
};

void compare(const CompareArguments& arguments) {
  std::vector<std::string> problems;
  const std::vector<std::string> formats = {"text", "csv", "markdown"};
  if (std::find(formats.begin(), formats.end(), arguments.format) == formats.end()) {
    problems.push_back("--format: " +
                       config::unknown_text("format", arguments.format, "", formats));
  }
  if (arguments.options.last < 1) {
    problems.push_back("--last: must be >= 1, got " + std::to_string(arguments.options.last));
  }
  if (arguments.runs.size() < 2) {
    problems.push_back("compare: wanted the folders of two runs or more, got " +
                       std::to_string(arguments.runs.size()));
  }
  if (!problems.empty()) throw OptionError(problems);

  const Comparison comparison =
      compare_runs({arguments.runs.begin(), arguments.runs.end()}, arguments.options);
  Console console;
  for (const auto& note : comparison.notes) console.warn(note);
  std::string text;
  if (arguments.format == "csv") {
    text = comparison_csv(comparison);
  } else if (arguments.format == "markdown") {
    text = comparison_markdown(comparison);
  } else {
    text = comparison_text(comparison,
                           {[&](const std::string& cell) { return console.bold(cell); },
                            [&](const std::string& cell) { return console.underlined(cell); }});
  }
  text.pop_back();  // the console ends the line
  console.print(text);
}

}  // namespace

void add_compare_command(CLI::App& program) {
  auto& command =
      *program.add_subcommand("compare", "mean and standard deviation over seeds of finished runs");
  const auto arguments = std::make_shared<CompareArguments>();
  command.add_option("RUN", arguments->runs, "folders of two runs or more")->type_name("");
  command.add_option("--metric", arguments->options.metric, "a column of rounds.csv")
      ->type_name("COLUMN")
      ->capture_default_str();
  command.add_option("--last", arguments->options.last, "rounds of the second figure, a mean")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--format", arguments->format, "text, csv or markdown")
      ->type_name("NAME")
      ->capture_default_str();
  command.footer(
      "Runs that differ only in their seed are one line: mean ± standard deviation (n - 1).\n"
      "The best of a column is bold, the second underlined. Unfinished runs are left out and "
      "named.\n\n"
      "Example:\n  fedvg compare runs/fmnist-fedavg-s1 runs/fmnist-fedavg-s2 "
      "runs/fmnist-fedvg-s1 runs/fmnist-fedvg-s2");
  command.callback([arguments] { compare(*arguments); });
}

}  // namespace fedvg
