#include "run/configuration.h"

#include <algorithm>

#include "config/resolve.h"
#include "config/schema.h"
#include "config/toml_file.h"
#include "data/augmentation.h"
#include "data/validation_set.h"
#include "fedvg/error.h"
#include "fedvg/options.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using config::Problems;

struct TopOptions {
  std::int64_t seed = 1;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("seed", &TopOptions::seed, at_least(0),
          "of every random draw: partition, initial model, cohorts, batches");
  }
};

struct ModelOptions {
  Part name{"cnn", {}};
  std::string init;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("name", &ModelOptions::name, PartBeside{"model"}, "the network");
    visit("init", &ModelOptions::init, FilePath{},
          "safetensors file that the initial model is, names and shapes as in the model; a "
          "classifier of other classes starts as drawn; empty: all is drawn");
  }
};

struct MethodOptions {
  std::string name = "fedavg";
  Part correction{"none", {}};
  Part weighting{"size", {}};
  Part server{"sgd", {}};
  Part combiner{"mean", {}};

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("name", &MethodOptions::name,
          "a method, or X+fedvg for method X with FedVG's weights: chooses the parts below, "
          "each of which can be set by itself");
    visit("correction", &MethodOptions::correction, PartOf{"correction"},
          "what is changed in local training");
    visit("weighting", &MethodOptions::weighting, PartOf{"weighting"},
          "how much each client counts");
    visit("server", &MethodOptions::server, PartOf{"server-optimizer"},
          "how the server takes the combined step");
    visit("combiner", &MethodOptions::combiner, PartOf{"combiner"},
          "how the participants' updates become one step: their weighted mean, or a robust rule");
  }
};

// [train] is two structs: what a participant does, and who participates.
config::Section train_section() {
  auto section = config::section_of<TrainOptions>("train", "local training and participation");
  for (Field& field : schema_of<CohortOptions>()) section.schema.push_back(std::move(field));
  return section;
}

// The method's name decides the defaults of its parts.
void adapt_method(Schema& fields, const Table& given, Problems& problems) {
  const Value* name = given.find("name");
  if (!name || !name->get<std::string>()) return;
  try {
    const Method method = compose_method(*name->get<std::string>());
    config::set_default(fields, "correction", method.correction);
    config::set_default(fields, "weighting", method.weighting);
    config::set_default(fields, "server", method.server);
    config::set_default(fields, "combiner", method.combiner);
  } catch (const OptionError& error) {
    for (const std::string& problem : error.problems()) {
      problems.add(name->source, "method.name", problem);
    }
  }
}

// model = {file = "net.ts"} needs no name.
void adapt_model(Schema& fields, const Table& given, Problems&) {
  if (!given.find("file") || given.find("name")) return;
  config::set_default(fields, "name", Part{"torchscript", {}});
}

// normalize = {mean = [...], std = [...]} needs no name.
void adapt_data(Schema& fields, const Table& given, Problems&) {
  const Value* normalize = given.find("normalize");
  const Table* numbers = normalize ? normalize->get<Table>() : nullptr;
  if (!numbers || numbers->find("name")) return;
  if (!numbers->find("mean") && !numbers->find("std")) return;
  config::set_default(fields, "normalize", Part{"given", {}});
}

const Table* section_in(const Table& resolved, std::string_view name) {
  const Value* value = resolved.find(name);
  return value ? value->get<Table>() : nullptr;
}

const Value* find_setting(const Table& resolved, std::string_view section, std::string_view key) {
  const Table* table = section_in(resolved, section);
  return table ? table->find(key) : nullptr;
}

bool was_written(const Value* value) { return value && !value->source.file.empty(); }

template <class Options>
Options options_in(const Table& resolved, std::string_view section) {
  return read<Options>(*section_in(resolved, section));
}

// A part that cannot be made is reported as such elsewhere.
bool looks_at_validation(const Part& weighting) {
  try {
    return needs_validation(weighting);
  } catch (const OptionError&) {
    return false;
  }
}

void check_validation(const Table& resolved, Problems& problems) {
  const Value* source = find_setting(resolved, "validation", "source");
  const Value* weighting = find_setting(resolved, "method", "weighting");
  if (!source || !weighting || !weighting->get<Table>()) return;
  Part part;
  walk::from_value(*weighting, part);
  if (*source != Value("none") || !looks_at_validation(part)) return;
  problems.add(source->source, "validation.source",
               "method.weighting = " + weighting->text() +
                   " looks at a validation set on the server: it needs D_val, and \"none\" leaves "
                   "it without one; write \"holdout\" to hold a part of the training set out, or "
                   "choose another weighting");
}

// Settings of one section that do not go together.
template <class Options>
void check_section(const Table& resolved, std::string_view section, Problems& problems) {
  const Table* table = section_in(resolved, section);
  const Schema fields = schema_of<Options>();
  const auto is_there = [&](const Field& field) { return table->find(field.name) != nullptr; };
  if (!table || !std::ranges::all_of(fields, is_there)) return;  // reported as such
  for (const auto& [key, reason] : wrong_settings(read<Options>(*table))) {
    problems.add(config::source_of(resolved, key), key, reason);
  }
}

// Early stopping goes by D_val.
void check_patience(const Table& resolved, Problems& problems) {
  const Value* patience = find_setting(resolved, "train", "patience");
  const Value* source = find_setting(resolved, "validation", "source");
  if (!patience || !source || *patience == Value(0) || *source != Value("none")) return;
  problems.add(patience->source, "train.patience",
               "stopping early goes by checkpoint.best on D_val, and validation.source = \"none\" "
               "leaves none; write \"holdout\" to hold a part of the training set out, or set "
               "train.patience = 0");
}

// What a corrupted client sends must go somewhere.
void check_corruption(const Configuration& configuration) {
  if (configuration.method.line == Line::federated) return;
  const CorruptionOptions& corruption = configuration.corruption;
  if (corruption.share == 0 || !changes_updates(corruption)) return;
  throw OptionError("corruption.kind: " + corruption.kind +
                    " is of what clients send, and under method.name = \"" +
                    configuration.method.name + "\" they send nothing");
}

// Settings that stand in for each other: what one replaces must not vanish in silence.
// A default that was written out is nothing that anybody would miss. (What a cohort file
// replaces is said by Cohorts.)
void note_replaced(const Table& resolved, std::vector<std::string>& notes) {
  struct Pair {
    const char *winner, *loser;
    Value off;
  };
  const Pair pairs[] = {{"participants", "participation", 0}, {"steps", "epochs", 0}};
  const Schema fields = train_section().schema;
  const Table& train = *section_in(resolved, "train");
  for (const Pair& pair : pairs) {
    const Value *winner = train.find(pair.winner), *loser = train.find(pair.loser);
    if (*winner == pair.off || !was_written(loser)) continue;
    if (*loser == config::find_field(fields, pair.loser)->initial) continue;
    notes.push_back(std::string("train.") + pair.winner + " = " + winner->text() +
                    " replaces train." + pair.loser + " = " + loser->text());
  }
}

// Of the parts that method.name stands for, with every option.
bool is_default(const std::string& kind, const Part& chosen, const Part& row) {
  return chosen == resolved_part(kind, row);
}

// Settings that nothing looks at must not vanish in silence either. (Those of which the data
// or the network decide are said by who knows them.)
void note_idle(const Configuration& configuration, std::vector<std::string>& notes) {
  const auto idle = [&](const std::string& key, const Value& value, const std::string& why) {
    notes.push_back(key + " = " + value.text() + " has no effect with " + why);
  };
  const PartitionOptions& partition = configuration.partition;
  if (partition.overlap && partition.scheme.name != "file") {
    idle("partition.overlap", true,
         "partition.scheme = \"" + partition.scheme.name + "\": only a partition file can overlap");
  }
  if (partition.min_samples == 0 && partition.on_short != PartitionOptions{}.on_short) {
    idle("partition.on_short", partition.on_short, "partition.min_samples = 0");
  }
  const Method& method = configuration.method;
  const ScoringOptions& scoring = configuration.scoring;
  if (!looks_at_validation(method.weighting)) {
    const std::string why =
        "method.weighting = \"" + method.weighting.name + "\": it takes no gradient of D_val";
    if (scoring.mode != ScoringOptions{}.mode) idle("scoring.mode", scoring.mode, why);
    // Statistics of D_val are taken in these batches too.
    if (scoring.batch_size != ScoringOptions{}.batch_size &&
        configuration.train.buffers == "global") {
      idle("scoring.batch_size", scoring.batch_size, why);
    }
  }
  const Value* momentum = method.server.options.find("momentum");
  const Value* nesterov = method.server.options.find("nesterov");
  if (momentum && nesterov && *momentum == Value(0.0) && *nesterov == Value(false)) {
    idle("method.server.nesterov", *nesterov, "method.server.momentum = 0");
  }
  if (method.line != Line::local) return;
  const Method row = compose_method(method.name);
  const std::string why =
      " has no effect with method.name = \"" + method.name + "\": clients share nothing";
  if (!is_default("server-optimizer", method.server, row.server)) {
    notes.push_back("method.server" + why);
  }
  if (!is_default("weighting", method.weighting, row.weighting)) {
    notes.push_back("method.weighting" + why);
  }
  if (!is_default("combiner", method.combiner, row.combiner)) {
    notes.push_back("method.combiner" + why);
  }
}

// The option of the chosen part, or where that has none, of any part of its kind: what is chosen in
// the end may be said elsewhere.
const Field* option_of_part(const std::string& kind, const std::string& chosen,
                            std::string_view name) {
  const PartInfo* info = Catalog::instance().find(kind, chosen);
  if (const Field* field = info ? config::find_field(info->schema, name) : nullptr) return field;
  for (const PartInfo* other : Catalog::instance().parts(kind)) {
    if (const Field* field = config::find_field(other->schema, name)) return field;
  }
  return nullptr;
}

void make_paths_absolute(const Field& field, Value& value) {
  if (auto* list = value.get<Array>(); list && field.type == OptionType::parts) {
    Field item = field;
    item.type = OptionType::part;
    item.initial = Table();
    for (Value& part : *list) make_paths_absolute(item, part);
  } else if (auto* part = value.get<Table>(); part && field.type == OptionType::part) {
    const std::string chosen = config::chosen_part(field, &value);
    for (auto& [key, option] : part->entries()) {
      const Field* inside = option_of_part(field.part_kind, chosen, key);
      if (inside) make_paths_absolute(*inside, option);
    }
  } else if (auto* path = value.get<std::string>(); path && field.is_path && !path->empty()) {
    *path = std::filesystem::absolute(*path).lexically_normal().string();
  }
}

void make_paths_absolute(const Schema& schema, Table& table) {
  const auto beside = std::ranges::find(schema, true, &Field::beside);
  for (auto& [key, value] : table.entries()) {
    const Field* field = config::find_field(schema, key);
    if (!field && beside != schema.end()) {
      const std::string chosen = config::chosen_part(*beside, table.find(beside->name));
      field = option_of_part(beside->part_kind, chosen, key);
    }
    if (field) make_paths_absolute(*field, value);
  }
}

Configuration read_configuration(Table resolved) {
  Configuration configuration;
  configuration.seed = static_cast<std::uint64_t>(read<TopOptions>(resolved).seed);
  configuration.data = options_in<DataOptions>(resolved, "data");
  configuration.partition = options_in<PartitionOptions>(resolved, "partition");
  configuration.validation = options_in<ValidationOptions>(resolved, "validation");
  configuration.corruption = options_in<CorruptionOptions>(resolved, "corruption");
  const auto model = options_in<ModelOptions>(resolved, "model");
  configuration.model = model.name;
  configuration.initial_model = model.init;
  configuration.train = options_in<TrainOptions>(resolved, "train");
  configuration.cohorts = options_in<CohortOptions>(resolved, "train");
  configuration.scoring = options_in<ScoringOptions>(resolved, "scoring");
  configuration.evaluate = options_in<EvaluateOptions>(resolved, "evaluate");
  configuration.checkpoint = options_in<CheckpointOptions>(resolved, "checkpoint");
  configuration.engine = options_in<EngineOptions>(resolved, "engine");
  configuration.report = options_in<ReportOptions>(resolved, "report");
  const auto method = options_in<MethodOptions>(resolved, "method");
  configuration.method.name = method.name;
  configuration.method.correction = method.correction;
  configuration.method.weighting = method.weighting;
  configuration.method.server = method.server;
  configuration.method.combiner = method.combiner;
  const Value* clients = find_setting(resolved, "partition", "clients");
  if (was_written(clients)) configuration.clients_given = configuration.partition.clients;
  configuration.resolved = std::move(resolved);
  return configuration;
}

}  // namespace

const std::vector<config::Section>& sections() {
  static const std::vector<config::Section> all = {
      config::section_of<TopOptions>("", ""),
      config::section_of<DataOptions>("data", "the data set", adapt_data),
      config::section_of<PartitionOptions>("partition", "who has which training samples"),
      config::section_of<ValidationOptions>("validation", "the server's validation set D_val"),
      config::section_of<ModelOptions>("model", "the network", adapt_model),
      train_section(),
      config::section_of<MethodOptions>("method", "correction x weighting x server optimizer",
                                        adapt_method),
      config::section_of<ScoringOptions>("scoring", "how D_val's gradient is taken"),
      config::section_of<EvaluateOptions>("evaluate", "when the global model is tested"),
      config::section_of<CheckpointOptions>("checkpoint", "what a run keeps to go on after a stop"),
      config::section_of<CorruptionOptions>("corruption", "clients that work against the others"),
      config::section_of<EngineOptions>("engine", "how the work is spread over the machine"),
      config::section_of<ReportOptions>("report", "what the run folder holds")};
  return all;
}

Table with_absolute_paths(Table document) {
  for (const auto& section : sections()) {
    Value* value = document.find(section.name);
    Table* table = section.name.empty() ? &document : value ? value->get<Table>() : nullptr;
    if (table) make_paths_absolute(section.schema, *table);
  }
  return document;
}

namespace {

// What was read from somewhere, with the overrides put in, checked and made whole.
Configuration configuration_of(Table document, const std::vector<config::Override>& overrides) {
  auto notes = config::apply_overrides(overrides, sections(), document);
  Problems problems;
  Table resolved = config::resolve(sections(), document, problems);
  check_validation(resolved, problems);
  check_patience(resolved, problems);
  check_section<DataOptions>(resolved, "data", problems);
  check_section<ValidationOptions>(resolved, "validation", problems);
  check_section<CorruptionOptions>(resolved, "corruption", problems);
  problems.throw_if_any();

  auto& name = *resolved.find("method")->get<Table>()->find("name")->get<std::string>();
  const Method row = compose_method(name);
  name = row.name;  // "fedvg+fedprox" is shown as "fedprox+fedvg"
  note_replaced(resolved, notes);
  Configuration configuration = read_configuration(with_absolute_paths(std::move(resolved)));
  configuration.method.line = row.line;
  check_corruption(configuration);
  note_idle(configuration, notes);
  configuration.notes = std::move(notes);
  return configuration;
}

}  // namespace

Configuration load_configuration(const std::filesystem::path& file,
                                 const std::vector<config::Override>& overrides) {
  return configuration_of(config::read_toml_file(file), overrides);
}

Configuration load_configuration_text(std::string_view text, const std::string& name,
                                      const std::vector<config::Override>& overrides) {
  return configuration_of(config::read_toml(text, name), overrides);
}

std::string Configuration::text() const {
  return config::write_toml(config::flattened(sections(), resolved));
}

void Configuration::set_clients(std::int64_t clients) {
  partition.clients = clients;
  resolved.find("partition")->get<Table>()->find("clients")->content = clients;
}

}  // namespace fedvg
