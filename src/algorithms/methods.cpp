#include "fedvg/method.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "config/nearest.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "fedvg/weighting.h"

namespace fedvg {
namespace {

std::map<std::string, MethodRow>& rows() {
  static std::map<std::string, MethodRow> all;
  return all;
}

[[noreturn]] void unknown(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [row, parts] : rows()) known.push_back(row);
  for (const auto& [row, parts] : rows()) {
    if (row != "fedvg" && parts.parts.line == Line::federated) known.push_back(row + "+fedvg");
  }
  throw OptionError(config::unknown_text("method", name, "", known));
}

}  // namespace

bool add_method(Method parts, std::string help) {
  const std::string name = parts.name;
  if (!rows().emplace(name, MethodRow{std::move(parts), std::move(help)}).second) {
    std::fprintf(stderr, "fedvg: method '%s' was registered twice\n", name.c_str());
    std::abort();
  }
  return true;
}

std::vector<const MethodRow*> method_rows() {
  std::vector<const MethodRow*> list;
  for (const auto& [name, row] : rows()) list.push_back(&row);
  return list;
}

Method compose_method(const std::string& name) {
  const auto plus = name.find('+');
  if (plus == std::string::npos) {
    const auto found = rows().find(name);
    if (found == rows().end()) unknown(name);
    return found->second.parts;
  }
  std::string base = name.substr(0, plus), other = name.substr(plus + 1);
  if (base == "fedvg") std::swap(base, other);
  const auto found = rows().find(base);
  if (other != "fedvg" || base == "fedvg" || found == rows().end() ||
      found->second.parts.line != Line::federated) {
    unknown(name);
  }
  Method method = found->second.parts;
  method.name = base + "+fedvg";
  Table fedvg, size, mix;
  fedvg.set("name", "fedvg");
  size.set("name", "size");
  mix.set("of", Array{fedvg, size});
  method.weighting = base == "fedavg" ? Part{"mix", mix} : Part{"fedvg", {}};
  return method;
}

bool needs_validation(const Part& weighting) {
  return Registry<WeightingRule>::instance().make(weighting)->needs_validation();
}

}  // namespace fedvg
