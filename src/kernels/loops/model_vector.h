// What is done once a client with vectors as long as the model, each in one pass over memory.
// libtorch takes several: it makes a float64 copy before it adds float32 numbers to a float64 sum,
// and isfinite compares twice and writes a mask before it is reduced.

#include "kernels/loops/vector.h"

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

// Plain loops: the compiler makes vectors of both.

void add_scaled(const float* x, std::int64_t size, double factor, double* sum) {
  for (std::int64_t i = 0; i < size; ++i) sum[i] += factor * static_cast<double>(x[i]);
}

// A number that is not finite has all bits of its exponent set. Looked at in pieces, so that the
// first one found ends it.
bool all_finite(const float* x, std::int64_t size) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  constexpr std::int64_t kPiece = 1 << 14;
  for (std::int64_t begin = 0; begin < size; begin += kPiece) {
    const std::int64_t end = begin + kPiece < size ? begin + kPiece : size;
    std::uint32_t wrong = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto bits = __builtin_bit_cast(std::uint32_t, x[i]);
      wrong |= static_cast<std::uint32_t>((bits & kExponent) == kExponent);
    }
    if (wrong) return false;
  }
  return true;
}

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
