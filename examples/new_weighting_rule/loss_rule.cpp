// A weighting rule outside the library: u_k = exp(-L_k / T), L_k the mean training loss of
// client k's last epoch. `loss_rule CONFIG.toml FOLDER` runs a federation with it.

#include <cmath>
#include <cstdio>

#include "fedvg/registry.h"
#include "fedvg/weighting.h"
#include "run/simulation.h"

struct LossOptions {
  double temperature = 1;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("temperature", &LossOptions::temperature, fedvg::above(0), "T; large: nearly uniform");
  }
};

class Loss final : public fedvg::WeightingRule {
 public:
  explicit Loss(const LossOptions& options) : options_(options) {}
  fedvg::Assessment assess(const fedvg::Round&, const fedvg::ClientUpdate& update,
                           fedvg::Evaluator&) const override {
    return fedvg::one_score(std::exp(-update.loss_last / options_.temperature));
  }

 private:
  LossOptions options_;
};

FEDVG_REGISTER(fedvg::WeightingRule, "loss", Loss, LossOptions, "by the loss of local training");

int main(int count, char** arguments) try {
  if (count != 3) throw fedvg::OptionError("wanted CONFIG.toml FOLDER");
  fedvg::Console console;
  const auto configuration = fedvg::load_configuration(arguments[1]);
  fedvg::run_simulation({configuration, "loss", arguments[2]}, console, {});
} catch (const fedvg::Error& error) {
  return std::fprintf(stderr, "loss_rule: %s\n", error.what()), error.exit_code();
}
