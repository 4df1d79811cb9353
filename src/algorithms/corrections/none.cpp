// Plain local training: no correction.

#include "fedvg/correction.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

class None final : public Correction {
 public:
  explicit None(const NoOptions&) {}

  bool corrects_gradients() const override { return false; }
  Folding folding() const override { return Folding::always; }
};

FEDVG_REGISTER(Correction, "none", None, NoOptions, "plain local training");

}  // namespace
}  // namespace fedvg
