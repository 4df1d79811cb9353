#pragma once

// A register of FEDVG_LANES floats, in GCC's vector extension, with the few operations that
// the extension lacks.

#include <immintrin.h>

#include <cstdint>

#define FEDVG_PRAGMA(text) _Pragma(#text)
/// The loop that follows is written out: its accumulators stay in registers only then.
#define FEDVG_UNROLL(n) FEDVG_PRAGMA(GCC unroll n)

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

constexpr std::int64_t kLanes = FEDVG_LANES;

typedef float Vec __attribute__((vector_size(FEDVG_LANES * 4)));
typedef float UnalignedVec __attribute__((vector_size(FEDVG_LANES * 4), aligned(4), may_alias));
typedef std::int32_t IntVec __attribute__((vector_size(FEDVG_LANES * 4)));

constexpr std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

inline Vec load(const float* p) { return *reinterpret_cast<const UnalignedVec*>(p); }
inline void store(float* p, Vec v) { *reinterpret_cast<UnalignedVec*>(p) = v; }
inline Vec broadcast(float a) { return a - Vec{}; }

// The first n of kLanes floats, 1 <= n <= kLanes; the rest is not touched, and 0 in a register.
#if FEDVG_LANES == 16
inline __mmask16 first(std::int64_t n) { return static_cast<__mmask16>((1U << n) - 1); }
inline Vec load_first(const float* p, std::int64_t n) {
  return reinterpret_cast<Vec>(_mm512_maskz_loadu_ps(first(n), p));
}
inline void store_first(float* p, Vec v, std::int64_t n) {
  _mm512_mask_storeu_ps(p, first(n), reinterpret_cast<__m512>(v));
}
#else
inline __m256i first(std::int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Vec load_first(const float* p, std::int64_t n) {
  return reinterpret_cast<Vec>(_mm256_maskload_ps(p, first(n)));
}
inline void store_first(float* p, Vec v, std::int64_t n) {
  _mm256_maskstore_ps(p, first(n), reinterpret_cast<__m256>(v));
}
#endif

inline void fill(float* p, std::int64_t n, float value) {
  for (std::int64_t i = 0; i < n; ++i) p[i] = value;
}

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
