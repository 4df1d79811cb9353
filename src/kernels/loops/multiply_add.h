// Nothing but multiply-adds, to learn how many a core does at most: the yardstick that speeds
// are shares of. Twelve chains that do not wait for each other cover two units of four cycles
// with some to spare, and stay in AVX2's sixteen registers.

#include "kernels/loops/vector.h"

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

constexpr int kChains = 12;
static_assert(kMultiplyAddNumbers >= kChains * kLanes);

std::int64_t multiply_add(std::int64_t rounds, float* numbers) {
  const Vec half = broadcast(0.5F);
  Vec chain[kChains];
  FEDVG_UNROLL(12) for (int c = 0; c < kChains; ++c) chain[c] = load(numbers + c * kLanes);
  for (std::int64_t round = 0; round < rounds; ++round) {
    FEDVG_UNROLL(12) for (int c = 0; c < kChains; ++c) chain[c] = chain[c] * half + half;
  }
  FEDVG_UNROLL(12) for (int c = 0; c < kChains; ++c) store(numbers + c * kLanes, chain[c]);
  return rounds * kChains * kLanes;
}

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
