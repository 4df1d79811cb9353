#include "engine/live_taps.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/federation.h"
#include "engine/round_driver.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

at::Tensor live_part(const at::Tensor& tensor, const LiveTaps& taps) {
  return tensor.narrow(2, taps.top, taps.height).narrow(3, taps.left, taps.width);
}

double length_of(const at::Tensor& tensor) {
  return at::linalg_vector_norm(tensor, 2, at::OptionalIntArrayRef{}, false, at::kDouble)
      .item<double>();
}

/// Below this share of a vector's length the rest of it is rounding.
double rounding(at::ScalarType type) {
  return 100 * (type == at::kDouble ? std::numeric_limits<double>::epsilon()
                                    : std::numeric_limits<float>::epsilon());
}

}  // namespace

DeadTaps::DeadTaps(Layout whole, Layout cropped, std::vector<LiveTaps> taps)
    : whole_(std::move(whole)), cropped_(std::move(cropped)) {
  std::ranges::sort(taps, {}, &LiveTaps::parameter);
  for (const LiveTaps& own : taps) kernels_.push_back({.taps = own});
}

void DeadTaps::settle(Kernel& kernel, at::Tensor tail, bool anew) const {
  if (anew) kernel.directions.clear();
  tail.zero_();
  at::Tensor rest = kernel.dead.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
  std::int64_t used = 0;
  for (const Direction& direction : kernel.directions) {
    const double along = rest.mul(direction.values).sum().item<double>() / direction.length;
    tail[used++].fill_(along);
    rest.sub_(direction.values, along / direction.length);
  }
  const double length = length_of(rest);
  if (length <= rounding(kernel.dead.scalar_type()) * length_of(kernel.dead)) return;
  if (used == tail.numel()) {
    throw RunError(
        "the model loaded between two rounds differs from all before it in weights that "
        "no pixel meets, of " +
        whole_.slots()[kernel.taps.parameter].name +
        ", and what clients and server keep would no longer fit them; set "
        "engine.live_taps = false");
  }
  tail[used].fill_(length);
  kernel.directions.push_back(
      {used == 0 ? kernel.dead : rest.to(kernel.dead.scalar_type()), length});
}

at::Tensor DeadTaps::crop(const at::Tensor& whole, bool anew) {
  at::Tensor cropped = at::zeros({cropped_.size()}, whole.options());
  std::vector<Kernel> kernels = kernels_;
  auto kernel = kernels.begin();
  for (std::size_t i = 0; i < whole_.tensors(); ++i) {
    const at::Tensor from = whole_.view(whole, i), to = cropped_.view(cropped, i);
    if (kernel == kernels.end() || kernel->taps.parameter != i) {
      to.copy_(from);
      continue;
    }
    to.copy_(live_part(from, kernel->taps));
    kernel->dead = from.clone();
    live_part(kernel->dead, kernel->taps).zero_();
    const at::Tensor tail = cropped_.tail(cropped, i);
    if (tail.numel() > 0) settle(*kernel, tail, anew);
    kernel->lengths = tail.clone();
    ++kernel;
  }
  kernels_ = std::move(kernels);
  return cropped;
}

TensorMap DeadTaps::state() const {
  TensorMap state;
  for (const Kernel& kernel : kernels_) {
    const std::string own = std::to_string(kernel.taps.parameter) + ".";
    state[own + "dead"] = kernel.dead;
    state[own + "lengths"] = kernel.lengths;
    for (std::size_t i = 0; i < kernel.directions.size(); ++i) {
      const std::string name = own + "direction." + std::to_string(i);
      state[name] = kernel.directions[i].values;
      state[name + ".length"] = at::full({}, kernel.directions[i].length, at::kDouble);
    }
  }
  return state;
}

void DeadTaps::set_state(const TensorMap& state) {
  for (Kernel& kernel : kernels_) {
    const std::string own = std::to_string(kernel.taps.parameter) + ".";
    const auto dead = state.find(own + "dead"), lengths = state.find(own + "lengths");
    if (dead == state.end() || lengths == state.end() ||
        dead->second.sizes() != kernel.dead.sizes() ||
        lengths->second.sizes() != kernel.lengths.sizes()) {
      throw DataError("live taps of another model");
    }
    kernel.dead = dead->second;
    kernel.lengths = lengths->second;
    kernel.directions.clear();
    for (std::size_t i = 0; state.contains(own + "direction." + std::to_string(i)); ++i) {
      const std::string name = own + "direction." + std::to_string(i);
      const auto length = state.find(name + ".length");
      if (length == state.end() || state.at(name).sizes() != kernel.dead.sizes()) {
        throw DataError("live taps of another model");
      }
      kernel.directions.push_back({state.at(name), length->second.item<double>()});
    }
  }
}

at::Tensor DeadTaps::restore(const at::Tensor& cropped) const {
  at::Tensor whole = at::zeros({whole_.size()}, cropped.options());
  auto kernel = kernels_.begin();
  for (std::size_t i = 0; i < whole_.tensors(); ++i) {
    const at::Tensor from = cropped_.view(cropped, i), to = whole_.view(whole, i);
    if (kernel == kernels_.end() || kernel->taps.parameter != i) {
      to.copy_(from);
      continue;
    }
    const at::Tensor tail = cropped_.tail(cropped, i);
    if (at::equal(tail, kernel->lengths)) {
      to.copy_(kernel->dead);
    } else {
      std::int64_t used = 0;
      for (const Direction& direction : kernel->directions) {
        to.add_(direction.values, tail[used++].item<double>() / direction.length);
      }
    }
    live_part(to, kernel->taps).copy_(from);
    ++kernel;
  }
  return whole;
}

std::string against_live_taps(const FederationSetup& setup, const DriverSetup& driver) {
  const auto optimizer = driver.build_optimizer();
  const bool moving = optimizer->decays();
  const Folding needed = moving ? Folding::always : Folding::at_rest;
  const auto refuses = [&](Folding part, const std::string& what) -> std::optional<std::string> {
    if (part >= needed) return std::nullopt;
    if (part == Folding::never) return what + " moves them by itself, or looks at each";
    return "weight decay moves them, and " + what + " does not treat them as one";
  };
  for (const auto& reason :
       {refuses(driver.correction->folding(), "method.correction " + setup.method.correction.name),
        refuses(optimizer->folding(driver.correction->corrects_gradients()),
                "train.optimizer " + setup.train.optimizer.name),
        refuses(driver.weighting->folding(), "method.weighting " + setup.method.weighting.name),
        refuses(driver.combiner->folding(), "method.combiner " + setup.method.combiner.name),
        refuses(driver.server->folding(), "method.server " + setup.method.server.name)}) {
    if (reason) return *reason;
  }
  return "";
}

std::int64_t tail_of(bool moving, bool linear) {
  constexpr std::int64_t kDirections = 16;
  return !moving ? 0 : linear ? kDirections : 1;
}

}  // namespace fedvg
