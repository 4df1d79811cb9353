#pragma once

// Small whole numbers, a byte each in memory and a lane each in a register.

#include "kernels/loops/vector.h"

namespace fedvg::kernels::FEDVG_INSTANCE {
namespace {

inline IntVec broadcast_int(std::int32_t a) { return a - IntVec{}; }

// kLanes bytes, or the first n of them, 1 <= n <= kLanes: the rest is not touched, and 0 in a
// register. The numbers are 0 to 127.
#if FEDVG_LANES == 16
typedef std::uint8_t Bytes __attribute__((vector_size(16)));
typedef std::uint8_t UnalignedBytes __attribute__((vector_size(16), aligned(1), may_alias));

// With a mask that is all ones, since GCC 12 warns of the plain forms' own headers; its
// __builtin_convertvector widens byte by byte.
inline IntVec load_bytes(const std::uint8_t* p) {
  return reinterpret_cast<IntVec>(_mm512_maskz_cvtepu8_epi32(
      first(kLanes), reinterpret_cast<__m128i>(*reinterpret_cast<const UnalignedBytes*>(p))));
}
inline IntVec load_first_bytes(const std::uint8_t* p, std::int64_t n) {
  return reinterpret_cast<IntVec>(
      _mm512_maskz_cvtepu8_epi32(first(n), _mm_maskz_loadu_epi8(first(n), p)));
}
inline void store_bytes(std::uint8_t* p, IntVec v) {
  *reinterpret_cast<UnalignedBytes*>(p) = __builtin_convertvector(v, Bytes);
}
inline void store_first_bytes(std::uint8_t* p, IntVec v, std::int64_t n) {
  _mm512_mask_cvtepi32_storeu_epi8(p, first(n), reinterpret_cast<__m512i>(v));
}
#else
inline IntVec load_bytes(const std::uint8_t* p) {
  return reinterpret_cast<IntVec>(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
inline void store_bytes(std::uint8_t* p, IntVec v) {
  const auto all = reinterpret_cast<__m256i>(v);
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
}
inline IntVec load_first_bytes(const std::uint8_t* p, std::int64_t n) {
  std::uint8_t whole[kLanes] = {};
  for (std::int64_t i = 0; i < n; ++i) whole[i] = p[i];
  return load_bytes(whole);
}
inline void store_first_bytes(std::uint8_t* p, IntVec v, std::int64_t n) {
  std::uint8_t whole[kLanes];
  store_bytes(whole, v);
  for (std::int64_t i = 0; i < n; ++i) p[i] = whole[i];
}
#endif

}  // namespace
}  // namespace fedvg::kernels::FEDVG_INSTANCE
