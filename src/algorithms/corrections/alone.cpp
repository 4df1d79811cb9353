// Every client alone: it goes on from its own model of its last round (the initial model
// the first time), and nothing is shared. The lower line that federated methods are
// compared with.

#include "fedvg/correction.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

class Alone final : public Correction {
 public:
  explicit Alone(const NoOptions&) {}

  bool corrects_gradients() const override { return false; }
  Folding folding() const override { return Folding::always; }
  std::int64_t vectors_kept() const override { return 1; }

  void begin(LocalContext& context) const override {
    const auto own = context.state->find("w");
    if (own != context.state->end()) context.parameters.copy_(own->second);
  }
  void end(LocalContext& context, ClientUpdate&) const override {
    context.next_state["w"] = context.parameters.clone();
  }
};

Table frozen() {
  Table options;
  options.set("lr", 0.0);
  return options;
}

FEDVG_REGISTER(Correction, "alone", Alone, NoOptions,
               "each client goes on from its own last model, nothing is shared");
FEDVG_METHOD((Method{.name = "local",
                     .line = Line::local,
                     .correction = {"alone", {}},
                     .weighting = {"uniform", {}},
                     .server = {"sgd", frozen()}}),
             "each client alone; figures are means over clients: the lower line");

}  // namespace
}  // namespace fedvg
