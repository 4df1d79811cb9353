#pragma once

#include <cstdint>
#include <string>

#include "fedvg/options.h"

namespace fedvg {

/// [checkpoint]
struct CheckpointOptions {
  std::int64_t every = 10;
  std::int64_t keep = 2;
  std::string best = "val_accuracy";

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("every", &CheckpointOptions::every, at_least(0),
          "write a checkpoint each so many rounds, when stopped and after the last; 0: only then");
    visit("keep", &CheckpointOptions::keep, at_least(1),
          "checkpoints that are kept: the latest ones");
    visit("best", &CheckpointOptions::best,
          OneOf{{"val_accuracy", "val_loss", "val_balanced_accuracy", "val_macro_f1",
                 "val_macro_auroc"}},
          "what the best round, whose model is kept too, is best by: of D_val, never of test data");
  }
};

}  // namespace fedvg
