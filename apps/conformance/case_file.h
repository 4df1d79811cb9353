#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fedvg/model.h"
#include "fedvg/value.h"

namespace fedvg::conformance {

/// Batches of float64 samples, as the file gives them.
struct Batches {
  std::vector<at::Tensor> x, y;  ///< x[b] is [B, F] or [B, C, H, W]; y[b] is [B], int64
};

struct LayerSpec {
  std::string type, name;
  std::int64_t in = 0, out = 0, kernel = 0, stride = 1, padding = 0;
  bool bias = true;
};

/// One entry of the methods: what it is made of, and what it is expected to give.
struct Expected {
  Table parts;  ///< beside what the entry's name says; empty in files of the reference
  std::vector<std::vector<double>> global;  ///< [rounds][numbers], in flatten order
  /// [rounds][participants][1 or tensors]; nothing where there is nothing to compare
  std::optional<std::vector<std::vector<std::vector<double>>>> weights;
};

/// A file of expected global models, round by round, for one small federation. The form
/// is described in docs/formats.md ("Conformance files").
struct CaseFile {
  std::string path;
  std::vector<LayerSpec> layers;
  std::vector<std::string> flatten_order;
  std::map<std::string, Table> hyperparameters;  ///< by method; "client" for local training
  std::int64_t population = 0;
  std::vector<std::vector<std::int64_t>> participants;  ///< by round
  std::map<std::string, at::Tensor> init;
  std::vector<Batches> data, probe;  ///< by client; probe may be empty
  Batches validation;
  std::vector<std::pair<std::string, Expected>> methods;  ///< in file order
};

/// Throws DataError naming the file and the key that is missing or malformed.
CaseFile read_case_file(const std::string& path);

/// The file's network with PyTorch's default initialisation.
std::unique_ptr<Model> build_network(const std::vector<LayerSpec>& layers);

}  // namespace fedvg::conformance
