#pragma once

#include <cstdint>

#include "case_file.h"
#include "engine/worker.h"
#include "fedvg/method.h"

namespace fedvg::conformance {

/// One method of a file in the product's terms.
struct MethodSettings {
  Method method;
  Part local_optimizer;
  std::int64_t epochs = 1;
  std::int64_t steps = 0;  ///< > 0: so many local steps instead of epochs
  double clip = 0;         ///< of the corrected gradient; 0: off
  BufferRule buffers = BufferRule::global;
  Mode scoring = Mode::batch_statistics;
};

/// Translates the file's hyperparameters and the reference's units: its validation gradient
/// is the mean over batches of the batch's summed loss, and it sums norms over tensors, so
/// its eps is the product's times the mean batch size. Throws OptionError when the product
/// lacks the method or a setting of it, DataError for `parts` of another form.
///
/// Files may ask for the product's own conventions by keys that the reference lacks:
/// hyperparameters.client.max_grad_norm (TrainOptions::clip), feddyn.proximal,
/// elastic.accumulate, scaffold.full_epochs (`epochs` counts passes over the data),
/// fedvg.reduce ("mean" or "sum"; with it eps is in the product's units), and in an entry of
/// the methods `parts`: `method` (a row of the table or X+fedvg), `correction`, `weighting`,
/// `server`, `optimizer` (each a name or {name, options...}, as in a configuration), `train`
/// {epochs, steps, clip, buffers} and `scoring` {mode}.
MethodSettings settings_of(const CaseFile& file, const std::string& name, const Table& parts);

}  // namespace fedvg::conformance
