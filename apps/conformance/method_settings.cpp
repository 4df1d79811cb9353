#include "method_settings.h"

#include <cstdio>

#include "fedvg/error.h"

namespace fedvg::conformance {
namespace {

/// Names of this kind of file only; otherwise the product's.
struct Variant {
  const char* name;
  const char* method;
  const char* norm;
  const char* granularity;
};
constexpr Variant kVariants[] = {
    {"fedvg-l2", "fedvg", "l2", "model"},
    {"fedvg-layerwise", "fedvg", nullptr, "layer"},
    {"fedvg-blockwise", "fedvg", nullptr, "block"},
    {"fedvg-spectral", "fedvg", "spectral", "layer"},
    {"fedvg+fedavg", "fedavg+fedvg", nullptr, "model"},
};

/// Where a hyperparameter goes, by the file's name of it.
struct Target {
  const char* method;
  const char* parameter;
  Part Method::*part;
  const char* option;
};
constexpr Target kTargets[] = {
    {"fedavgm", "server_momentum", &Method::server, "momentum"},
    {"fedavgm", "nesterov", &Method::server, "nesterov"},
    {"fedavgm", "server_lr", &Method::server, "lr"},
    {"fedadam", "server_lr", &Method::server, "lr"},
    {"fedadam", "beta1", &Method::server, "beta1"},
    {"fedadam", "beta2", &Method::server, "beta2"},
    {"fedadam", "tau", &Method::server, "tau"},
    {"fedyogi", "server_lr", &Method::server, "lr"},
    {"fedyogi", "beta1", &Method::server, "beta1"},
    {"fedyogi", "beta2", &Method::server, "beta2"},
    {"fedyogi", "tau", &Method::server, "tau"},
    {"fedadagrad", "server_lr", &Method::server, "lr"},
    {"fedadagrad", "beta1", &Method::server, "beta1"},
    {"fedadagrad", "tau", &Method::server, "tau"},
    {"fedprox", "mu", &Method::correction, "mu"},
    {"scaffold", "global_lr", &Method::server, "lr"},
    {"feddyn", "alpha", &Method::correction, "alpha"},
    {"feddyn", "max_grad_norm", &Method::correction, "max_grad_norm"},
    {"feddyn", "proximal", &Method::correction, "proximal"},
    {"elastic", "tau", &Method::correction, "tau"},
    {"elastic", "mu", &Method::correction, "mu"},
    {"elastic", "accumulate", &Method::correction, "accumulate"},
    {"moon", "temperature", &Method::correction, "temperature"},
    {"moon", "mu", &Method::correction, "mu"},
};

double number(const Table& table, const char* key, double fallback) {
  const Value* value = table.find(key);
  if (!value) return fallback;
  if (const auto* whole = value->get<std::int64_t>()) return static_cast<double>(*whole);
  return value->get<double>() ? *value->get<double>() : fallback;
}

const Table& hyperparameters(const CaseFile& file, const std::string& name) {
  static const Table none;
  const auto found = file.hyperparameters.find(name);
  return found == file.hyperparameters.end() ? none : found->second;
}

/// The method X of "X+fedvg", else the name itself.
std::string base_of(const std::string& name) { return name.substr(0, name.find('+')); }

Table fedvg_options(const CaseFile& file, const Variant* variant) {
  const Table& given = hyperparameters(file, "fedvg");
  double samples = 0;
  for (const auto& y : file.validation.y) samples += static_cast<double>(y.numel());
  const double batch = samples / static_cast<double>(file.validation.y.size());
  const double order = number(given, "norm_order", 1);
  const double eps = number(given, "eps", 1e-8);
  const Value* reduce = given.find("reduce");
  Table options;
  options.set("norm", variant && variant->norm ? variant->norm : order == 2 ? "l2" : "l1");
  options.set("granularity", variant ? variant->granularity : "model");
  options.set("reduce", reduce ? *reduce : Value("sum"));
  options.set("eps", reduce ? eps : eps / batch);
  return options;
}

void set_weighting(Part& weighting, const Table& fedvg) {
  if (weighting.name == "fedvg") weighting.options = fedvg;
  if (weighting.name != "mix") return;
  for (auto& rule : *weighting.options.find("of")->get<Array>()) {
    Table& part = *rule.get<Table>();
    if (*part.find("name")->get<std::string>() != "fedvg") continue;
    for (const auto& [key, value] : fedvg.entries()) part.set(key, value);
  }
}

/// Sets the options that the file's hyperparameters of the method name; says which are
/// unknown, unless they are remarks.
void set_options(const Table& own, const std::string& base, Method& method) {
  for (const auto& [key, value] : own.entries()) {
    bool known = value.get<std::string>() || base == "fedvg" || key == "full_epochs";
    for (const auto& target : kTargets) {
      known = known || key == target.parameter;  // it may stand there for another method
      if (base != target.method || key != target.parameter) continue;
      (method.*target.part).options.set(target.option, value);
    }
    if (!known) {
      std::fprintf(stderr, "hyperparameters: %s of %s is not used\n", key.c_str(), base.c_str());
    }
  }
}

std::string text(const Value& value, const std::string& key) {
  if (const auto* text = value.get<std::string>()) return *text;
  throw DataError("parts: '" + key + "' is no text");
}

const Table& inner(const Value& value, const std::string& key) {
  if (const auto* table = value.get<Table>()) return *table;
  throw DataError("parts: '" + key + "' is no object");
}

/// A name, or an object with `name` and options.
Part part_of(const Value& value, const std::string& key) {
  if (value.get<std::string>()) return {text(value, key), {}};
  Part part{"", inner(value, key)};
  const Value* name = part.options.find("name");
  if (!name) throw DataError("parts: '" + key + "' has no name");
  part.name = text(*name, key);
  part.options.erase("name");
  return part;
}

void set_train(const Table& train, MethodSettings& settings) {
  for (const auto& [key, value] : train.entries()) {
    if (key == "epochs") {
      settings.epochs = static_cast<std::int64_t>(number(train, "epochs", 1));
    } else if (key == "steps") {
      settings.steps = static_cast<std::int64_t>(number(train, "steps", 0));
    } else if (key == "clip") {
      settings.clip = number(train, "clip", 0);
    } else if (key == "buffers") {
      const std::string rule = text(value, key);
      settings.buffers = rule == "local"   ? BufferRule::local
                         : rule == "reset" ? BufferRule::reset
                                           : BufferRule::global;
    } else {
      throw DataError("parts: train has no '" + key + "'");
    }
  }
}

/// What the entry itself says.
void set_parts(const Table& parts, MethodSettings& settings) {
  for (const auto& [key, value] : parts.entries()) {
    if (key == "method") continue;  // known already
    if (key == "correction") {
      settings.method.correction = part_of(value, key);
    } else if (key == "weighting") {
      settings.method.weighting = part_of(value, key);
    } else if (key == "server") {
      settings.method.server = part_of(value, key);
    } else if (key == "optimizer") {
      settings.local_optimizer = part_of(value, key);
    } else if (key == "train") {
      set_train(inner(value, key), settings);
    } else if (key == "scoring") {
      const Value* mode = inner(value, key).find("mode");
      if (mode && text(*mode, key) == "eval") settings.scoring = Mode::eval;
    } else {
      throw DataError("parts: there is no '" + key + "'");
    }
  }
}

}  // namespace

MethodSettings settings_of(const CaseFile& file, const std::string& name, const Table& parts) {
  const Value* method = parts.find("method");
  const std::string called = method ? text(*method, "method") : name;
  const Variant* variant = nullptr;
  for (const auto& one : kVariants) {
    if (called == one.name) variant = &one;
  }
  MethodSettings settings;
  settings.method = compose_method(variant ? variant->method : called);
  const std::string base = base_of(settings.method.name);
  const Table& own = hyperparameters(file, base);
  // The reference leaves w_local out of FedDyn's gradient, and lets the probe's gradients
  // pile up over Elastic's batches.
  if (base == "feddyn") settings.method.correction.options.set("proximal", false);
  if (base == "elastic") settings.method.correction.options.set("accumulate", true);
  set_options(own, base, settings.method);
  set_weighting(settings.method.weighting, fedvg_options(file, variant));

  const Table& client = hyperparameters(file, "client");
  settings.epochs = static_cast<std::int64_t>(number(client, "epochs", 1));
  settings.clip = number(client, "max_grad_norm", 0);
  const Value* full_epochs = own.find("full_epochs");
  const bool full = full_epochs && full_epochs->get<bool>() && *full_epochs->get<bool>();
  if (base == "scaffold" && !full) settings.steps = settings.epochs;
  const Value* optimizer = client.find("optimizer");
  settings.local_optimizer.name = optimizer ? text(*optimizer, "optimizer") : "sgd";
  for (const auto& [key, value] : client.entries()) {
    const bool known_elsewhere = key == "optimizer" || key == "epochs" || key == "batch_size" ||
                                 key == "shuffle" || key == "max_grad_norm" || key == "note";
    if (!known_elsewhere) settings.local_optimizer.options.set(key, value);
  }
  set_parts(parts, settings);
  return settings;
}

}  // namespace fedvg::conformance
