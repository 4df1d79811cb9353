#include <memory>

#include "commands.h"
#include "data/federated_data.h"
#include "fedvg/error.h"
#include "run/console.h"
#include "run/output_check.h"
#include "run/partition_table.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

struct PartitionArguments {
  ConfigurationArguments configuration;
  std::string output;
  bool output_given = false;
};

void partition(const PartitionArguments& arguments) {
  const Configuration configuration = arguments.configuration.load();
  if (arguments.output_given) {
    auto inputs = input_paths(configuration);
    inputs.push_back({"the configuration", arguments.configuration.file()});
    check_output("--output", arguments.output, inputs);
  }
  const FederatedData data =
      load_federated_data(configuration.data, configuration.partition, configuration.validation,
                          configuration.seed, configuration.clients_given);
  Console console;
  for (const auto* notes : {&configuration.notes, &data.notes}) {
    for (const auto& note : *notes) console.say("note: " + note);
  }
  if (arguments.output_given) {
    write_whole_file(arguments.output, partition_json(data));
    console.say("written to " + arguments.output);
  }
  std::string text = partition_table(data);
  text.pop_back();  // the console ends the line
  console.print(text);
}

}  // namespace

void add_partition_command(CLI::App& program) {
  auto& command = *program.add_subcommand(
      "partition", "client x class counts of a partition, and a file that a run reads back");
  const auto arguments = std::make_shared<PartitionArguments>();
  arguments->configuration.add_to(command);
  auto* output = command
                     .add_option("-o,--output", arguments->output,
                                 "write the partition as JSON, for partition.scheme = \"file\"")
                     ->type_name("FILE");
  command.footer(
      "Example:\n  fedvg partition fmnist.toml --set partition.alpha=0.05 -o skewed.json\n"
      "  fedvg run fmnist.toml --set partition.scheme=file --set partition.file=skewed.json");
  command.callback([arguments, output] {
    arguments->output_given = output->count() > 0;
    partition(*arguments);
  });
}

}  // namespace fedvg
