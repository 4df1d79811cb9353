// The loops in registers of 16 floats. cmake/kernels.cmake compiles this one file for AVX-512.

#include "kernels/kernel_table.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define FEDVG_INSTANCE avx512
#define FEDVG_LANES 16
#include "kernels/loops/table.h"

const fedvg::kernels::KernelTable* fedvg::kernels::avx512_kernels() { return &avx512::kTable; }
#else
const fedvg::kernels::KernelTable* fedvg::kernels::avx512_kernels() { return nullptr; }
#endif
