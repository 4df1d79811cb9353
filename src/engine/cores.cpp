#include "engine/cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace fedvg {

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
  }
  if (!cores.empty()) return cores;
  for (unsigned core = 0; core < std::max(1U, std::thread::hardware_concurrency()); ++core) {
    cores.push_back(static_cast<int>(core));
  }
  return cores;
}

}  // namespace fedvg
