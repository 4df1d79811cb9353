#pragma once

#include <string>
#include <vector>

#include "kernels/kernel_table.h"

namespace fedvg::kernels {

/// "aten" (no own loops), "avx2", "avx512": those this processor can run, best last.
std::vector<std::string> instruction_sets();

/// The loops of an instruction set; "auto": the best of this processor; "aten": null. Throws
/// OptionError, naming what is there, when this processor cannot run it.
const KernelTable* kernels_of(const std::string& name);

/// The loops that operators of this thread use now; null: libtorch's.
const KernelTable* active();

/// Sets them for its scope, on its thread.
class UseKernels {
 public:
  explicit UseKernels(const KernelTable* table);
  ~UseKernels();
  UseKernels(const UseKernels&) = delete;
  UseKernels& operator=(const UseKernels&) = delete;

 private:
  const KernelTable* before_;
};

}  // namespace fedvg::kernels
