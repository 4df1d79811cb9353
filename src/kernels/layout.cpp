#include "kernels/layout.h"

#include <ATen/ops/empty_strided.h>

#include <memory>
#include <new>

namespace fedvg::kernels {

at::Tensor empty_plain(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return at::empty_strided({n, c, h, w}, {h * w * c, 1, w * c, c}, at::kFloat);
}

at::Tensor plain(const at::Tensor& x) {
  if (is_plain(x)) return x;
  at::Tensor copy = empty_plain(x.size(0), x.size(1), x.size(2), x.size(3));
  copy.copy_(x);
  return copy;
}

float* scratch(std::size_t floats) {
  constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(float* p) const { ::operator delete[](p, kAlignment); }
  };
  thread_local std::unique_ptr<float, Free> memory;
  thread_local std::size_t size = 0;
  if (size < floats) {
    memory.reset(static_cast<float*>(::operator new[](floats * sizeof(float), kAlignment)));
    size = floats;
  }
  return memory.get();
}

}  // namespace fedvg::kernels
