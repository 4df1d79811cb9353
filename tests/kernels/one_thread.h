#pragma once

#include <ATen/Parallel.h>

namespace fedvg::kernels {

/// libtorch's operators on one thread for its scope, as workers run them: sums that are compared
/// with do not depend on the machine's cores, and small ones do not wait for busy cores.
class OneThread {
 public:
  OneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
  ~OneThread() { at::set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace fedvg::kernels
