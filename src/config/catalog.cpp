#include <cstdio>
#include <cstdlib>

#include "fedvg/registry.h"

namespace fedvg {

Catalog& Catalog::instance() {
  static Catalog catalog;
  return catalog;
}

void Catalog::add(const std::string& kind, PartInfo info) {
  for (const Field& field : info.schema) {
    if (field.name != "name") continue;
    std::fprintf(stderr, "fedvg: %s '%s' of %s declares an option 'name', which is reserved\n",
                 kind.c_str(), info.name.c_str(), info.file.c_str());
    std::abort();
  }
  auto& parts = parts_[kind];
  if (const auto present = parts.find(info.name); present != parts.end()) {
    std::fprintf(stderr, "fedvg: %s '%s' is registered twice, in %s and in %s\n", kind.c_str(),
                 info.name.c_str(), present->second.file.c_str(), info.file.c_str());
    std::abort();
  }
  std::string name = info.name;
  parts.emplace(std::move(name), std::move(info));
}

const PartInfo* Catalog::find(const std::string& kind, const std::string& name) const {
  const auto parts = parts_.find(kind);
  if (parts == parts_.end()) return nullptr;
  const auto part = parts->second.find(name);
  return part == parts->second.end() ? nullptr : &part->second;
}

std::vector<const PartInfo*> Catalog::parts(const std::string& kind) const {
  std::vector<const PartInfo*> found;
  if (const auto parts = parts_.find(kind); parts != parts_.end()) {
    for (const auto& [name, info] : parts->second) found.push_back(&info);
  }
  return found;
}

std::vector<std::string> Catalog::kinds() const {
  std::vector<std::string> names;
  for (const auto& [kind, parts] : parts_) names.push_back(kind);
  return names;
}

}  // namespace fedvg
