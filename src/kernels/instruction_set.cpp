#include "kernels/instruction_set.h"

#include "fedvg/error.h"

namespace fedvg::kernels {
namespace {

thread_local const KernelTable* current = nullptr;

bool has_avx2() {
#if defined(__x86_64__)
  return avx2_kernels() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool has_avx512() {
#if defined(__x86_64__)
  return avx512_kernels() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names{"aten"};
  if (has_avx2()) names.emplace_back("avx2");
  if (has_avx512()) names.emplace_back("avx512");
  return names;
}

const KernelTable* kernels_of(const std::string& name) {
  const auto names = instruction_sets();
  const std::string wanted = name == "auto" ? names.back() : name;
  std::string listed;
  for (const auto& one : names) {
    if (one == wanted) {
      if (one == "avx512") return avx512_kernels();
      return one == "avx2" ? avx2_kernels() : nullptr;
    }
    listed += (listed.empty() ? "" : ", ") + one;
  }
  throw OptionError("engine.kernels: this processor does not run \"" + wanted + "\", it runs " +
                    listed);
}

const KernelTable* active() { return current; }

UseKernels::UseKernels(const KernelTable* table) : before_(current) { current = table; }
UseKernels::~UseKernels() { current = before_; }

}  // namespace fedvg::kernels
