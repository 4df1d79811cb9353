// MOON (Li et al., 2021, arXiv 2103.16257)
//
//   loss += mu * mean -log( e^{s(z, z_glob)/T} / (e^{s(z, z_glob)/T} + e^{s(z, z_prev)/T}) )
//
// z are the features before the classifier, s is cosine similarity; z_glob and z_prev are
// of the round's global model and of the client's model of its last participation (the
// global model the first time), in evaluation mode, without gradient.

#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/softplus.h>

#include "fedvg/correction.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct MoonOptions {
  double mu = 5;
  double temperature = 0.5;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("mu", &MoonOptions::mu, at_least(0), "weight of the contrastive loss");
    visit("temperature", &MoonOptions::temperature, above(0), "T, sharpness of the contrast");
  }
};

class Moon final : public Correction {
 public:
  explicit Moon(const MoonOptions& options) : options_(options) {}

  bool corrects_gradients() const override { return false; }
  Folding folding() const override { return Folding::always; }

  bool needs_features() const override { return true; }
  std::int64_t vectors_kept() const override { return 1; }

  void begin(LocalContext& context) const override {
    context.tools->load_replica(kGlobal, context.global, *context.global_buffers);
    const auto w = context.state->find("w");
    if (w == context.state->end()) {
      context.tools->load_replica(kPrevious, context.global, *context.global_buffers);
      return;
    }
    Tensors buffers;
    for (std::size_t i = 0; i < context.global_buffers->size(); ++i) {
      buffers.push_back(context.state->at("buffer." + std::to_string(i)));
    }
    context.tools->load_replica(kPrevious, w->second, buffers);
  }

  at::Tensor loss(LocalContext& context, const Batch& batch, const Output& output,
                  at::Tensor base) const override {
    const auto similarity = [&](std::size_t slot) {
      const at::Tensor z = context.tools->replica_features(slot, batch.images).flatten(1);
      return at::cosine_similarity(output.features.flatten(1), z, 1).div(options_.temperature);
    };
    // -log(e^a / (e^a + e^b)) = log(1 + e^(b - a))
    const at::Tensor contrast =
        at::softplus(similarity(kPrevious).sub(similarity(kGlobal)), 1, /*threshold=*/700);
    return base.add(contrast.mean(), options_.mu);
  }

  void end(LocalContext& context, ClientUpdate& update) const override {
    context.next_state["w"] = context.parameters.clone();
    for (std::size_t i = 0; i < update.buffers.size(); ++i) {
      context.next_state["buffer." + std::to_string(i)] = update.buffers[i].clone();
    }
  }

 private:
  static constexpr std::size_t kGlobal = 0, kPrevious = 1;
  MoonOptions options_;
};

FEDVG_REGISTER(Correction, "moon", Moon, MoonOptions,
               "features stay near the global model's and leave the client's last ones");
FEDVG_METHOD((Method{.name = "moon", .correction = {"moon", {}}}),
             "model-contrastive local training");

}  // namespace
}  // namespace fedvg
