#include "models/sealed_file.h"

#include <algorithm>

#include "data/content_hash.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr const char* kSeal = "seal";

/// Whatever the order of the tensors.
std::string seal_of(const std::vector<NamedArray>& tensors,
                    const std::map<std::string, std::string>& metadata) {
  ContentHash hash;
  for (const auto& [key, value] : metadata) {
    hash.add_text(key);
    hash.add_text(value);
  }
  std::vector<const NamedArray*> by_name;
  for (const NamedArray& tensor : tensors) by_name.push_back(&tensor);
  std::ranges::sort(by_name, {}, &NamedArray::name);
  for (const NamedArray* tensor : by_name) {
    hash.add_text(tensor->name);
    hash.add_text(tensor->dtype);
    for (const auto size : tensor->shape) hash.add(static_cast<std::uint64_t>(size));
    hash.add(std::span(reinterpret_cast<const std::uint8_t*>(tensor->bytes.data()),
                       tensor->bytes.size()));
  }
  return hash.digits();
}

}  // namespace

std::map<std::string, std::string> sealed(const std::vector<NamedArray>& tensors,
                                          std::map<std::string, std::string> metadata) {
  metadata.erase(kSeal);
  const std::string seal = seal_of(tensors, metadata);
  metadata[kSeal] = seal;
  return metadata;
}

TensorFile read_sealed(const std::string& path) {
  TensorFile file = read_safetensors(path);
  const auto seal = file.metadata.extract(kSeal);
  if (!seal) throw DataError(path + ": not a file that a run wrote: it has no seal");
  if (seal.mapped() != seal_of(file.tensors, file.metadata)) {
    throw DataError(path + ": damaged: its content is not what was written");
  }
  return file;
}

}  // namespace fedvg
