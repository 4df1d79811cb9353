#include "models/model_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>

namespace fedvg {

std::optional<double> memory_limit_in(const std::string& file) {
  std::ifstream in(file);
  double bytes = 0;
  if (!(in >> bytes)) return std::nullopt;
  return bytes;
}

double machine_memory() {
  double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  // Of the second and of the first kind; a container sees its own group there.
  for (const char* file :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    bytes = std::min(bytes, memory_limit_in(file).value_or(bytes));
  }
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<double>(addresses.rlim_cur));
  }
  return bytes;
}

std::string memory_text(double bytes) {
  constexpr std::array kUnits = {"MB", "GB", "TB", "PB", "EB"};
  double number = bytes / 1e6;
  std::size_t unit = 0;
  for (; number >= 1000 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), number < 1e6 ? "%.1f %s" : "%.2e %s", number,
                kUnits[unit]);
  return text.data();
}

double tensor_bytes(const std::vector<std::int64_t>& shape) {
  double bytes = sizeof(float);
  for (const auto extent : shape) bytes *= static_cast<double>(extent);
  return bytes;
}

void check_memory_for(const std::string& name, const std::vector<std::int64_t>& shape,
                      double taken) {
  const double bytes = tensor_bytes(shape), memory = machine_memory();
  if (least_copies * (taken + bytes) <= memory) return;
  std::string extents;
  for (const auto extent : shape) extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
  throw ModelTooLarge(
      name + " of [" + extents + "] takes " + memory_text(bytes) +
      (taken > 0 ? ", beside " + memory_text(taken) + " of the tensors before it" : "") +
      "; a run holds the model " + std::to_string(least_copies) + " times or more, " +
      memory_text(least_copies * (taken + bytes)) + ", and this machine has " +
      memory_text(memory) + " of memory");
}

}  // namespace fedvg
