#include "method_settings.h"

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
    {"elastic", "tau", &Method::correction, "tau"},
    {"elastic", "mu", &Method::correction, "mu"},
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
  Table options;
  options.set("norm", variant && variant->norm ? variant->norm : order == 2 ? "l2" : "l1");
  options.set("granularity", variant ? variant->granularity : "model");
  options.set("reduce", "sum");
  options.set("eps", number(given, "eps", 1e-8) / batch);
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

}  // namespace

MethodSettings settings_of(const CaseFile& file, const std::string& name) {
  const Variant* variant = nullptr;
  for (const auto& one : kVariants) {
    if (name == one.name) variant = &one;
  }
  MethodSettings settings;
  settings.method = compose_method(variant ? variant->method : name);
  const std::string base = base_of(settings.method.name);
  const Table& own = hyperparameters(file, base);
  for (const auto& target : kTargets) {
    const Value* value = base == target.method ? own.find(target.parameter) : nullptr;
    if (value) (settings.method.*target.part).options.set(target.option, *value);
  }
  set_weighting(settings.method.weighting, fedvg_options(file, variant));
  // The reference leaves w_local out of FedDyn's gradient, and lets the probe's gradients
  // pile up over Elastic's batches.
  if (base == "feddyn") settings.method.correction.options.set("proximal", false);
  if (base == "elastic") settings.method.correction.options.set("accumulate", true);

  const Table& client = hyperparameters(file, "client");
  settings.epochs = static_cast<std::int64_t>(number(client, "epochs", 1));
  if (base == "scaffold") settings.steps = settings.epochs;
  const Value* optimizer = client.find("optimizer");
  settings.local_optimizer.name = optimizer ? *optimizer->get<std::string>() : "sgd";
  for (const auto& [key, value] : client.entries()) {
    const bool known_elsewhere =
        key == "optimizer" || key == "epochs" || key == "batch_size" || key == "shuffle" ||
        key == "note";
    if (!known_elsewhere) settings.local_optimizer.options.set(key, value);
  }
  return settings;
}

}  // namespace fedvg::conformance
