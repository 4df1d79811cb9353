#include "engine/autocast.h"

#include <ATen/autocast_mode.h>

namespace fedvg {

Autocast::Autocast(bool on, c10::DeviceType device) : on_(on), device_(device) {
  if (!on_) return;
  was_on_ = at::autocast::is_autocast_enabled(device_);
  kept_casts_ = at::autocast::is_autocast_cache_enabled();
  at::autocast::set_autocast_dtype(device_, at::kBFloat16);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_cache_enabled(false);
}

Autocast::~Autocast() {
  if (!on_) return;
  at::autocast::set_autocast_enabled(device_, was_on_);
  at::autocast::set_autocast_cache_enabled(kept_casts_);
}

bool processor_has_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

}  // namespace fedvg
