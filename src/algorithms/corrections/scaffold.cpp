// SCAFFOLD (Karimireddy et al., 2020, arXiv 1910.06378), option II
//
//   gradient += c - c_k
//   c_k+ = c_k - c - Delta_k / (a_k eta)      after the local steps at rate eta
//   c += (1 / N) sum_k (c_k+ - c_k)           N: all clients
//
// a_k is the number of local steps really taken; with momentum, how far these steps go
// under a constant gradient of 1 (LocalOptimizer::path_length). c_k and c start at 0.

#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "algorithms/corrections/path.h"
#include "algorithms/corrections/pending_sum.h"
#include "fedvg/correction.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

class Scaffold final : public Correction {
 public:
  explicit Scaffold(const NoOptions&) {}

  std::int64_t vectors_kept() const override { return 1; }
  Folding folding() const override { return Folding::always; }

  void check(const LocalOptimizer& optimizer, bool kept) const override {
    require_path_length(optimizer, kept, "scaffold",
                        "its control variates are changes of the model per step and learning rate");
  }

  void begin(LocalContext& context) const override {
    at::Tensor drift = at::zeros_like(context.global);
    if (const auto c = context.inbox->find("c"); c != context.inbox->end()) drift.add_(c->second);
    if (const auto c = context.state->find("c"); c != context.state->end()) drift.sub_(c->second);
    context.scratch["drift"] = drift;  // c - c_k
  }

  void grad(LocalContext& context) const override {
    context.gradient.add_(context.scratch["drift"]);
  }

  void end(LocalContext& context, ClientUpdate& update) const override {
    const double path = update.path * context.learning_rate;
    // Nothing was walked, nothing was learnt: c_k stays.
    if (!(path > 0)) return;
    const auto own = context.state->find("c");
    at::Tensor next = context.scratch["drift"].neg().sub(update.delta, 1 / path);
    at::Tensor change = next.clone();
    if (own != context.state->end()) change.sub_(own->second);
    context.next_state["c"] = next;
    update.extra["dc"] = change;
  }

  TensorMap broadcast() const override {
    if (c_.empty()) return {};
    return {{"c", c_.total().to(type_)}};
  }

  void accept(const ClientUpdate& update) override {
    const auto change = update.extra.find("dc");
    if (change == update.extra.end()) return;
    type_ = change->second.scalar_type();
    c_.add(change->second);
  }

  void after_step(const Round& round, at::Tensor&) override {
    c_.take(static_cast<double>(round.population));
  }
  void abandon(const Round&) override { c_.drop(); }

  TensorMap state() const override {
    TensorMap state = c_.state();
    if (!state.empty()) state["sent"] = at::zeros({}, type_);  // its type
    return state;
  }
  void restore(const TensorMap& state) override {
    c_.restore(state);
    if (const auto sent = state.find("sent"); sent != state.end()) {
      type_ = sent->second.scalar_type();
    }
  }

 private:
  PendingSum c_{"c"};
  at::ScalarType type_ = at::kFloat;  // of c on its way to clients
};

FEDVG_REGISTER(Correction, "scaffold", Scaffold, NoOptions,
               "control variates take the drift out of local steps");
FEDVG_METHOD((Method{
                 .name = "scaffold", .correction = {"scaffold", {}}, .weighting = {"uniform", {}}}),
             "control variates against client drift, uniform weights");

}  // namespace
}  // namespace fedvg
