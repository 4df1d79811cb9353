#include "run/environment.h"

#include <sys/utsname.h>

#include <fstream>
#include <nlohmann/json.hpp>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "engine/cores.h"
#include "fedvg/version.h"

namespace fedvg {
namespace {

std::string system_name() {
  utsname name = {};
  if (::uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string libc_name() {
#ifdef __GLIBC__
  return std::string("glibc ") + gnu_get_libc_version();
#else
  return "unknown";
#endif
}

}  // namespace

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

Environment environment_here(const MallocSettings& malloc) {
  return {.processor = processor_name(),
          .cores = std::ssize(allowed_cores()),
          .system = system_name(),
          .libc = libc_name(),
#ifdef __clang__
          .compiler = "clang " __clang_version__,
#else
          .compiler = "gcc " __VERSION__,
#endif
          .malloc = malloc};
}

std::string environment_text(const Environment& environment, const FederationInfo& federation) {
  const nlohmann::ordered_json json = {
      {"fedvg", {{"version", FEDVG_VERSION}, {"commit", FEDVG_COMMIT}}},
      {"libtorch", federation.libtorch_version},
      {"device", federation.device},
      {"memory_format", federation.memory_format},
      {"kernels", federation.kernels},
      {"weights", {{"all", federation.parameters}, {"live_taps", federation.live}}},
      {"workers", federation.workers},
      {"threads", federation.threads},
      {"processor", environment.processor},
      {"cores", environment.cores},
      {"system", environment.system},
      {"compiler", environment.compiler},
      {"libc", environment.libc},
      {"malloc",
       {{"mmap_threshold", environment.malloc.mmap_threshold},
        {"trim_threshold", environment.malloc.trim_threshold},
        {"top_pad", environment.malloc.top_pad}}}};
  return json.dump(2) + "\n";
}

}  // namespace fedvg
