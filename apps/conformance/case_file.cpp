#include "case_file.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <fstream>
#include <nlohmann/json.hpp>

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

void flatten(const Json& nested, std::size_t depth, std::vector<std::int64_t>& shape,
             std::vector<double>& values) {
  if (!nested.is_array()) {
    values.push_back(nested.get<double>());
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

Table table(const Json& json) {
  Table result;
  for (const auto& [name, value] : json.items()) {
    if (value.is_boolean()) result.set(name, value.get<bool>());
    if (value.is_number_integer()) result.set(name, value.get<std::int64_t>());
    if (value.is_number_float()) result.set(name, value.get<double>());
    if (value.is_string()) result.set(name, value.get<std::string>());
  }
  return result;
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
  for (const auto& [name, expected] : key(json, "methods").items()) {
    Expected values;
    key(expected, "global").get_to(values.global);
    if (expected.contains("weights") && !expected["weights"].is_null()) {
      values.weights.emplace();
      for (const auto& round : expected["weights"]) {
        auto& clients = values.weights->emplace_back();
        for (const auto& weight : round) {
          clients.push_back(weight.is_array() ? weight.get<std::vector<double>>()
                                              : std::vector{weight.get<double>()});
        }
      }
    }
    file.methods.emplace_back(name, std::move(values));
  }
  if (static_cast<std::int64_t>(file.data.size()) != file.population) {
    throw DataError("`data` has " + std::to_string(file.data.size()) + " clients, `population` is " +
                    std::to_string(file.population));
  }
  return file;
}

}  // namespace

CaseFile read_case_file(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw DataError(path + ": cannot be read");
  try {
    CaseFile file = parse(Json::parse(stream));
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
      throw DataError("layer type '" + spec.type +
                      "' is unknown; known: batchnorm2d, conv2d, global_avg_pool, linear, relu, tanh");
    }
  }
  return network;
}

}  // namespace fedvg::conformance
