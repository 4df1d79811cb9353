#pragma once

#include <c10/core/DeviceType.h>

namespace fedvg {

/// libtorch's automatic casting to bfloat16 on this thread, for its scope: matrix products and
/// convolutions of float32 tensors are done in bfloat16, what needs the range or the digits is
/// not (https://pytorch.org/docs/stable/amp.html). Casts of weights are not kept from one use to
/// the next, since the weights move with every step.
class Autocast {
 public:
  Autocast(bool on, c10::DeviceType device);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool on_;
  c10::DeviceType device_;
  bool was_on_ = false, kept_casts_ = false;
};

/// Does this processor multiply bfloat16 numbers (AVX512_BF16, AMX)? Others only imitate it,
/// slowly.
bool processor_has_bf16();

}  // namespace fedvg
