#include "case_file.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "fedvg/error.h"
#include "models/network.h"

namespace fedvg::conformance {
namespace {

using Json = nlohmann::ordered_json;

const Json& key(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw DataError(std::string("key '") + name + "' is missing");
  return *found;
}

/// Python writes numbers that are not finite as NaN, Infinity and -Infinity, which JSON does
/// not know: they become null here, and null becomes a number again in number().
std::string without_names_of_numbers(const std::string& text) {
  constexpr std::string_view kNames[] = {"-Infinity", "Infinity", "NaN"};
  std::string result;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      result.append(text, i++, 2);
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    const std::string_view rest = std::string_view(text).substr(i);
    const auto* name = std::find_if(std::begin(kNames), std::end(kNames), [&](auto one) {
      return !quoted && rest.substr(0, one.size()) == one;
    });
    if (name == std::end(kNames)) {
      result += text[i];
      continue;
    }
    result += "null";
    i += name->size() - 1;
  }
  return result;
}

double number(const Json& json) { return json.is_null() ? std::nan("") : json.get<double>(); }

void flatten(const Json& nested, std::size_t depth, std::vector<std::int64_t>& shape,
             std::vector<double>& values) {
  if (!nested.is_array()) {
    values.push_back(number(nested));
    return;
  }
  if (shape.size() <= depth) shape.push_back(static_cast<std::int64_t>(nested.size()));
  if (shape[depth] != static_cast<std::int64_t>(nested.size())) {
    throw DataError("a nested list is ragged");
  }
  for (const auto& item : nested) flatten(item, depth + 1, shape, values);
}

at::Tensor tensor(const Json& nested, at::ScalarType type) {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  flatten(nested, 0, shape, values);
  at::Tensor result = at::empty(shape, at::kDouble);
  if (result.numel() != static_cast<std::int64_t>(values.size())) {
    throw DataError("a nested list is ragged");
  }
  std::copy(values.begin(), values.end(), result.data_ptr<double>());
  return result.to(type);
}

Batches batches(const Json& list) {
  Batches result;
  for (const auto& batch : list) {
    result.x.push_back(tensor(key(batch, "x"), at::kDouble));
    result.y.push_back(tensor(key(batch, "y"), at::kLong));
    const auto& x = result.x.back();
    const auto& y = result.y.back();
    if (x.dim() == 0 || y.dim() != 1 || y.numel() == 0 || x.size(0) != y.size(0)) {
      throw DataError("a batch does not have one y for each x");
    }
  }
  return result;
}

LayerSpec layer(const Json& json) {
  LayerSpec spec;
  spec.type = key(json, "type").get<std::string>();
  spec.name = json.value("name", "");
  spec.in = json.value("in", json.value("features", std::int64_t{0}));
  spec.out = json.value("out", std::int64_t{0});
  spec.kernel = json.value("kernel", std::int64_t{0});
  spec.stride = json.value("stride", std::int64_t{1});
  spec.padding = json.value("padding", std::int64_t{0});
  spec.bias = json.value("bias", true);
  return spec;
}

Table table(const Json& json);

Value value(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object()) return table(json);
  if (!json.is_array()) return number(json);
  Array array;
  for (const auto& item : json) array.push_back(value(item));
  return array;
}

Table table(const Json& json) {
  Table result;
  for (const auto& [name, item] : json.items()) result.set(name, value(item));
  return result;
}

/// One number for the whole model or one a tensor.
std::vector<double> numbers(const Json& json) {
  if (!json.is_array()) return {number(json)};
  std::vector<double> result;
  for (const auto& item : json) result.push_back(number(item));
  return result;
}

Expected expected(const Json& json, const std::vector<std::vector<std::int64_t>>& participants) {
  Expected result;
  if (json.contains("parts")) result.parts = table(json["parts"]);
  for (const auto& model : key(json, "global")) result.global.push_back(numbers(model));
  if (result.global.size() != participants.size()) {
    throw DataError("`global` has " + std::to_string(result.global.size()) +
                    " rounds, `participants` " + std::to_string(participants.size()));
  }
  if (!json.contains("weights") || json["weights"].is_null()) return result;
  result.weights.emplace();
  for (const auto& round : json["weights"]) {
    auto& clients = result.weights->emplace_back();
    for (const auto& weight : round) clients.push_back(numbers(weight));
  }
  bool fits = result.weights->size() == participants.size();
  for (std::size_t r = 0; fits && r < participants.size(); ++r) {
    fits = (*result.weights)[r].size() == participants[r].size();
  }
  if (!fits) throw DataError("`weights` does not have an entry for each participant");
  return result;
}

void check_participants(const CaseFile& file) {
  for (const auto& cohort : file.participants) {
    std::set<std::int64_t> seen;
    for (const std::int64_t client : cohort) {
      if (client < 0 || client >= file.population || !seen.insert(client).second) {
        throw DataError("`participants` names client " + std::to_string(client) +
                        ", which is not there or is there twice");
      }
    }
    if (cohort.empty()) throw DataError("`participants` has a round without a client");
  }
}

CaseFile parse(const Json& json) {
  CaseFile file;
  const Json& network = key(json, "network");
  for (const auto& one : key(network, "layers")) file.layers.push_back(layer(one));
  key(network, "flatten_order").get_to(file.flatten_order);
  for (const auto& [names, values] : key(json, "hyperparameters").items()) {
    for (std::size_t begin = 0; begin <= names.size();) {
      const std::size_t end = std::min(names.find('/', begin), names.size());
      file.hyperparameters[names.substr(begin, end - begin)] = table(values);
      begin = end + 1;
    }
  }
  key(json, "population").get_to(file.population);
  key(json, "participants").get_to(file.participants);
  for (const auto& [name, values] : key(json, "init").items()) {
    file.init[name] = tensor(values, at::kDouble);
  }
  for (const auto& client : key(json, "data")) file.data.push_back(batches(client));
  if (json.contains("probe")) {
    for (const auto& client : json["probe"]) file.probe.push_back(batches(client));
  }
  file.validation = batches(key(json, "validation"));
  if (static_cast<std::int64_t>(file.data.size()) != file.population) {
    throw DataError("`data` has " + std::to_string(file.data.size()) +
                    " clients, `population` is " + std::to_string(file.population));
  }
  check_participants(file);
  for (const auto& [name, entry] : key(json, "methods").items()) {
    try {
      file.methods.emplace_back(name, expected(entry, file.participants));
    } catch (const DataError& problem) {
      throw DataError("methods: " + name + ": " + problem.what());
    }
  }
  return file;
}

}  // namespace

CaseFile read_case_file(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw DataError(path + ": cannot be read");
  try {
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    CaseFile file = parse(Json::parse(without_names_of_numbers(text)));
    file.path = path;
    return file;
  } catch (const Json::exception& problem) {
    throw DataError(path + ": " + problem.what());
  } catch (const DataError& problem) {
    throw DataError(path + ": " + problem.what());
  }
}

std::unique_ptr<Model> build_network(const std::vector<LayerSpec>& layers) {
  auto network = std::make_unique<Network>();
  for (const auto& spec : layers) {
    if (spec.type == "linear") {
      network->linear(spec.name, spec.in, spec.out, spec.bias);
    } else if (spec.type == "conv2d") {
      network->conv2d(spec.name, spec.in, spec.out, spec.kernel, spec.stride, spec.padding,
                      spec.bias);
    } else if (spec.type == "batchnorm2d") {
      network->batch_norm(spec.name, spec.in);
    } else if (spec.type == "tanh") {
      network->tanh();
    } else if (spec.type == "relu") {
      network->relu();
    } else if (spec.type == "global_avg_pool") {
      network->global_avg_pool();
    } else {
      throw DataError(
          "layer type '" + spec.type +
          "' is unknown; known: batchnorm2d, conv2d, global_avg_pool, linear, relu, tanh");
    }
  }
  return network;
}

}  // namespace fedvg::conformance
