// FedDyn (Acar et al., 2021, arXiv 2111.04263)
//
//   gradient += alpha (h_k + w_local - w)     then clipped to the l2 norm max_grad_norm
//   h_k += Delta_k                            after the local steps
//   w += (1 / N) sum_k h_k                    after the averaged step; N: all clients
//
// proximal = false leaves w_local out of the gradient, as the published reference does. The
// sum over all clients is kept as one running vector; h_k starts at 0.

#include "algorithms/corrections/pending_sum.h"
#include "fedvg/clip.h"
#include "fedvg/correction.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct FedDynOptions {
  double alpha = 0.1;
  double max_grad_norm = 10;
  bool proximal = true;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("alpha", &FedDynOptions::alpha, at_least(0), "strength of the dynamic regulariser");
    visit("max_grad_norm", &FedDynOptions::max_grad_norm, at_least(0),
          "largest l2 norm of the corrected gradient; 0: not clipped");
    visit("proximal", &FedDynOptions::proximal,
          "false: leave w_local out of the correction, as the published reference does");
  }
};

class FedDyn final : public Correction {
 public:
  explicit FedDyn(const FedDynOptions& options) : options_(options) {}

  std::int64_t vectors_kept() const override { return 1; }
  // Without w_local the pull away from w moves whatever has no gradient of its own.
  Folding folding() const override { return options_.proximal ? Folding::always : Folding::never; }

  void begin(LocalContext& context) const override {
    at::Tensor pull = context.global.neg();  // h_k - w
    if (const auto h = context.state->find("h"); h != context.state->end()) pull.add_(h->second);
    context.scratch["pull"] = pull;
  }

  void grad(LocalContext& context) const override {
    context.gradient.add_(context.scratch["pull"], options_.alpha);
    if (options_.proximal) context.gradient.add_(context.parameters, options_.alpha);
    clip_to_norm(context.gradient, options_.max_grad_norm);
  }

  void end(LocalContext& context, ClientUpdate& update) const override {
    const auto h = context.state->find("h");
    context.next_state["h"] =
        h == context.state->end() ? update.delta.clone() : h->second.add(update.delta);
  }

  void accept(const ClientUpdate& update) override { sum_.add(update.delta); }

  void after_step(const Round& round, at::Tensor& w) override {
    sum_.take();
    if (!sum_.empty()) w.add_(sum_.total(), 1 / static_cast<double>(round.population));
  }
  void abandon(const Round&) override { sum_.drop(); }

  TensorMap state() const override { return sum_.state(); }
  void restore(const TensorMap& state) override { sum_.restore(state); }

 private:
  FedDynOptions options_;
  PendingSum sum_{"sum"};  // of h_k over all clients
};

FEDVG_REGISTER(Correction, "feddyn", FedDyn, FedDynOptions,
               "a regulariser that follows each client's own past updates");
FEDVG_METHOD((Method{.name = "feddyn", .correction = {"feddyn", {}}}),
             "dynamic regularisation: local optima meet the global one");

}  // namespace
}  // namespace fedvg
