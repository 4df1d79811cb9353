// What a federation keeps to go on later, as named arrays.

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include "engine/named_arrays.h"
#include "engine/round_driver.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr const char* kGlobal = "global";
constexpr const char* kShapes = "shapes";
constexpr const char* kBuffer = "buffer.";
constexpr const char* kServer = "server.";
constexpr const char* kCorrection = "correction.";
constexpr const char* kDeadTaps = "dead-taps.";
constexpr const char* kSpread = "budget.spread";

void append(const std::string& prefix, const TensorMap& tensors, std::vector<NamedArray>& arrays) {
  for (const auto& [name, tensor] : tensors) arrays.push_back(to_array(prefix + name, tensor));
}

/// Those of a prefix, by what follows it.
TensorMap with_prefix(const TensorMap& tensors, const std::string& prefix) {
  TensorMap found;
  for (auto entry = tensors.lower_bound(prefix);
       entry != tensors.end() && entry->first.starts_with(prefix); ++entry) {
    found[entry->first.substr(prefix.size())] = entry->second;
  }
  return found;
}

bool alike(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes();
}

/// Of each tensor of the model, with its number of dimensions before.
at::Tensor shapes_of(const Layout& layout) {
  std::vector<std::int64_t> sizes;
  for (const auto& slot : layout.slots()) {
    sizes.push_back(std::ssize(slot.shape));
    sizes.insert(sizes.end(), slot.shape.begin(), slot.shape.end());
  }
  return at::tensor(sizes, at::kLong);
}

/// Vectors of the model's size that are of another size belong to another model.
void check_vectors(const TensorMap& tensors, std::int64_t size) {
  for (const auto& [name, tensor] : tensors) {
    if (tensor.dim() == 1 && tensor.numel() != size) {
      throw DataError(name + " has " + std::to_string(tensor.numel()) + " numbers, the model " +
                      std::to_string(size));
    }
  }
}

}  // namespace

FederationState RoundDriver::save() {
  FederationState state;
  state.arrays.push_back(to_array(kGlobal, global_));
  state.arrays.push_back(to_array(kShapes, shapes_of(layout_)));
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    state.arrays.push_back(to_array(kBuffer + std::to_string(i), buffers_[i]));
  }
  append(kServer, setup_.server->state(), state.arrays);
  append(kCorrection, setup_.correction->state(), state.arrays);
  if (dead_) append(kDeadTaps, dead_->state(), state.arrays);
  if (budget_ && budget_->spread()) {
    state.arrays.push_back(to_array(kSpread, at::full({}, *budget_->spread(), at::kDouble)));
  }
  state.clients = states_->save();
  return state;
}

void RoundDriver::restore(const FederationState& state) {
  TensorMap tensors;
  for (const NamedArray& array : state.arrays) {
    tensors[array.name] = to_tensor(array).to(setup_.format.device);
  }
  const auto global = tensors.find(kGlobal);
  const auto shapes = tensors.find(kShapes);
  if (global == tensors.end() || !alike(global->second, global_) || shapes == tensors.end() ||
      !shapes->second.cpu().equal(shapes_of(layout_))) {
    throw DataError("the global model in it is not of this model's sizes and precision");
  }
  Tensors buffers;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const auto found = tensors.find(kBuffer + std::to_string(i));
    if (found == tensors.end() || !alike(found->second, buffers_[i])) {
      throw DataError("buffer " + buffer_names()[i].name + " is missing in it, or does not fit");
    }
    buffers.push_back(found->second);
  }
  const TensorMap server = with_prefix(tensors, kServer),
                  correction = with_prefix(tensors, kCorrection);
  check_vectors(server, layout_.size());
  check_vectors(correction, layout_.size());
  if (dead_) dead_->set_state(with_prefix(tensors, kDeadTaps));
  states_->restore(state.clients);
  global_ = global->second;
  buffers_ = std::move(buffers);
  setup_.server->restore(server);
  setup_.correction->restore(correction);
  const auto spread = tensors.find(kSpread);
  if (budget_) {
    budget_->restore(spread == tensors.end() ? std::optional<double>()
                                             : spread->second.item<double>());
  }
  has_run_ = true;
  own_figures_.clear();
}

}  // namespace fedvg
