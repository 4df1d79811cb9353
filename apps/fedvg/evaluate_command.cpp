#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "commands.h"
#include "config/nearest.h"
#include "fedvg/error.h"
#include "run/console.h"
#include "run/evaluation_report.h"
#include "run/experiment.h"
#include "run/output_check.h"
#include "run/round_lines.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

struct EvaluateArguments {
  std::filesystem::path model;
  ConfigurationArguments configuration;
  std::string part = "test";
  std::string predictions;
  bool predictions_given = false;
};

struct NamedPart {
  const char* name;
  DataPart part;
};
constexpr NamedPart kParts[] = {{"test", DataPart::test},
                                {"validation", DataPart::validation},
                                {"training", DataPart::training}};

DataPart part_named(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& known : kParts) {
    if (name == known.name) return known.part;
    names.emplace_back(known.name);
  }
  throw OptionError("--part: " + config::unknown_text("part", name, "", names));
}

// Without --data the configuration of the run that wrote the model.
void settle_data(EvaluateArguments& arguments) {
  if (!arguments.configuration.file().empty()) return;
  const auto beside = arguments.model.parent_path() / "config.toml";
  if (!std::filesystem::exists(beside)) {
    throw OptionError("--data is missing: " + beside.string() +
                      " is not there, so name a configuration whose [data] and [model] are meant");
  }
  arguments.configuration.set_file(beside);
}

void load_model(Experiment& experiment, const std::filesystem::path& path) {
  const TensorFile file = read_safetensors(path.string());
  try {
    experiment.federation().load_model(file.tensors);
  } catch (const DataError& error) {
    std::string message = path.string() + ": " + error.what();
    const auto written = file.metadata.find("model");
    const std::string& wanted = experiment.configuration().model.name;
    if (written != file.metadata.end() && written->second != wanted) {
      message += "\nthe file holds model \"" + written->second +
                 "\", the configuration asks for \"" + wanted +
                 "\": --set model.name=" + written->second;
    }
    throw DataError(message);
  }
}

void evaluate(EvaluateArguments& arguments) {
  const DataPart part = part_named(arguments.part);
  settle_data(arguments);
  Configuration configuration = arguments.configuration.load();
  if (arguments.predictions_given) {
    auto inputs = input_paths(configuration);
    inputs.push_back({"the model", arguments.model});
    inputs.push_back({"the configuration", arguments.configuration.file()});
    check_output("--predictions", arguments.predictions, inputs);
  }
  configuration.initial_model.clear();  // the weights come from the model's file
  Experiment experiment(std::move(configuration), arguments.configuration.device());
  Console console;
  for (const auto& note : experiment.notes()) console.say("note: " + note);
  load_model(experiment, arguments.model);

  Predictions predictions;
  const auto evaluation = experiment.federation().evaluate(part, predictions);
  if (!evaluation) {
    throw OptionError(
        "--part validation: there is no D_val with these settings; set "
        "validation.source");
  }
  const auto warning = loss_warning(*evaluation, arguments.model.string(), arguments.part);
  if (!warning.empty()) console.warn(warning);
  const Dataset& dataset = experiment.data().dataset;
  if (arguments.predictions_given) {
    write_whole_file(arguments.predictions,
                     predictions_table(experiment.federation().part_samples(part), predictions,
                                       dataset.classes));
    console.say("predictions written to " + arguments.predictions);
  }
  std::string text = evaluation_text(*evaluation, dataset.classes);
  text.pop_back();  // the console ends the line
  console.print(fmt::format("{:<17}  {}\n{:<17}  {}: {}, {} samples\n{}", "model",
                            arguments.model.string(), "data", dataset.name, arguments.part,
                            predictions.size(), text));
}

}  // namespace

void add_evaluate_command(CLI::App& program) {
  auto& command =
      *program.add_subcommand("evaluate", "every metric of a saved model on any data set");
  const auto arguments = std::make_shared<EvaluateArguments>();
  command.add_option("MODEL.safetensors", arguments->model, "the model's file")
      ->type_name("")
      ->required();
  arguments->configuration.add_data_to(command);
  command
      .add_option("--part", arguments->part,
                  "test, validation (D_val) or training (the samples of all clients)")
      ->type_name("NAME")
      ->capture_default_str();
  auto* predictions =
      command
          .add_option("--predictions", arguments->predictions,
                      "write sample, label, predicted class and its probability as CSV")
          ->type_name("FILE");
  arguments->configuration.add_machine_to(command);
  command.footer(
      "Tensors are matched by name; what does not fit the configuration's [model] is listed.\n"
      "Of the configuration [data], [partition], [validation] and [model] matter; with\n"
      "data.normalize = \"dataset\" images are standardised by this data's training part.\n\n"
      "Example:\n  fedvg evaluate runs/fmnist-fedvg-s1/model.safetensors --part validation\n"
      "  fedvg evaluate model.safetensors --data fmnist.toml --predictions out.csv");
  command.callback([arguments, predictions] {
    arguments->predictions_given = predictions->count() > 0;
    evaluate(*arguments);
  });
}

}  // namespace fedvg
