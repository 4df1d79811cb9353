#pragma once

#include <cstdint>

#include "case_file.h"
#include "fedvg/method.h"

namespace fedvg::conformance {

/// One method of a file in the product's terms.
struct MethodSettings {
  Method method;
  Part local_optimizer;
  std::int64_t epochs = 1;
  std::int64_t steps = 0;  ///< > 0: so many local steps instead of epochs
};

/// Translates the file's hyperparameters and the reference's units: its validation gradient
/// is the mean over batches of the batch's summed loss, and it sums norms over tensors, so
/// its eps is the product's times the mean batch size. Throws OptionError when the product
/// lacks the method or a setting of it.
MethodSettings settings_of(const CaseFile& file, const std::string& name);

}  // namespace fedvg::conformance
