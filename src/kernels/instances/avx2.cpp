// The loops in registers of 8 floats. cmake/kernels.cmake compiles this one file for AVX2.

#include "kernels/kernel_table.h"

#if defined(__AVX2__) && defined(__FMA__)
#define FEDVG_INSTANCE avx2
#define FEDVG_LANES 8
#include "kernels/loops/table.h"

const fedvg::kernels::KernelTable* fedvg::kernels::avx2_kernels() { return &avx2::kTable; }
#else
const fedvg::kernels::KernelTable* fedvg::kernels::avx2_kernels() { return nullptr; }
#endif
