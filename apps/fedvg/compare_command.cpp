#include <algorithm>
#include <memory>

#include "commands.h"
#include "config/nearest.h"
#include "fedvg/error.h"
#include "run/comparison/compare.h"
#include "run/comparison/comparison_table.h"
#include "run/comparison/named_runs.h"
#include "run/console.h"

namespace fedvg {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  std::string rows, columns;
  CompareOptions options;
  std::string format = "text";
};

// "method,train.epochs"; an empty name stays, to be refused.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, comma - begin));
    begin = comma + 1;
    if (begin == list.size()) names.emplace_back();
  }
  return names;
}

void check(const CompareArguments& arguments, const CLI::App& command) {
  std::vector<std::string> problems;
  const std::vector<std::string> formats = {"text", "markdown", "csv", "latex"};
  if (std::find(formats.begin(), formats.end(), arguments.format) == formats.end()) {
    problems.push_back("--format: " +
                       config::unknown_text("format", arguments.format, "", formats));
  }
  for (const char* option : {"--rows", "--columns", "--at", "--baseline"}) {
    const CLI::Option* given = command.get_option(option);
    if (given->count() > 0 && given->as<std::string>().empty()) {
      problems.push_back(std::string(option) + ": empty");
    }
  }
  for (const auto& problem : problems_of(arguments.options)) problems.push_back(problem);
  const auto& runs = arguments.runs;
  if (runs.empty() || (runs.size() == 1 && !is_sweep(runs[0]))) {
    problems.push_back("compare: wanted the folders of two runs or more, or of a sweep, got " +
                       (runs.empty() ? "none" : runs[0]));
  }
  if (!problems.empty()) throw OptionError(problems);
}

std::string drawn(const Comparison& comparison, const std::string& format, const Console& console) {
  if (format == "csv") return comparison_csv(comparison);
  if (format == "markdown") return comparison_markdown(comparison);
  if (format == "latex") return comparison_latex(comparison);
  return comparison_text(comparison,
                         {[&](const std::string& cell) { return console.bold(cell); },
                          [&](const std::string& cell) { return console.underlined(cell); }});
}

void compare(CompareArguments& arguments, const CLI::App& command) {
  arguments.options.rows = names_in(arguments.rows);
  arguments.options.columns = names_in(arguments.columns);
  arguments.options.last_given = command.get_option("--last")->count() > 0;
  check(arguments, command);
  const Comparison comparison =
      compare_runs({arguments.runs.begin(), arguments.runs.end()}, arguments.options);
  Console console;
  for (const auto& note : comparison.notes) console.warn(note);
  std::string text = drawn(comparison, arguments.format, console);
  text.pop_back();  // the console ends the line
  console.print(text);
}

}  // namespace

void add_compare_command(CLI::App& program) {
  auto& command = *program.add_subcommand(
      "compare", "mean and standard deviation over seeds of finished runs, and tests");
  const auto arguments = std::make_shared<CompareArguments>();
  CompareOptions& options = arguments->options;
  command.add_option("RUN", arguments->runs, "folders of two runs or more, or of sweeps")
      ->type_name("");
  command
      .add_option("--rows", arguments->rows,
                  "settings that make the rows, as method or method,train.epochs")
      ->type_name("KEY,KEY...");
  command
      .add_option("--columns", arguments->columns,
                  "settings that make the columns, as partition.alpha")
      ->type_name("KEY,KEY...");
  command
      .add_option(
          "--metric", options.metric,
          "a column of rounds.csv; rounds-to:0.8 or rounds-to:COLUMN:0.8; bytes, bytes-to:0.8")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--at", options.at,
                  "the column's value in the final round, in the best by validation, or its "
                  "mean over the last N: final, best, last:N")
      ->type_name("ROUND");
  command
      .add_option("--last", options.last,
                  "rounds of the second figure, a mean, where there is no --at and no --columns")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--baseline", options.baseline,
                  "test each other row against this one: Wilcoxon signed-rank, Holm")
      ->type_name("ROW");
  command.add_option("--format", arguments->format, "text, markdown, csv or latex")
      ->type_name("NAME")
      ->capture_default_str();
  command.footer(
      "Runs that differ only in their seed are one cell: mean ± standard deviation (n - 1).\n"
      "The best of a column is bold, the second underlined. Unfinished runs are left out and "
      "named.\nWithout --rows and --columns all that differs is a row.\n\n"
      "Example:\n  fedvg compare runs/fmnist-fedavg-s1 runs/fmnist-fedavg-s2 "
      "runs/fmnist-fedvg-s1 runs/fmnist-fedvg-s2\n"
      "  fedvg compare sweeps/methods --rows method --columns partition.alpha --baseline fedvg "
      "--format latex");
  command.callback([arguments, &command] { compare(*arguments, command); });
}

}  // namespace fedvg
