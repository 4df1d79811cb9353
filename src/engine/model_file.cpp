#include "engine/model_file.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "engine/named_arrays.h"
#include "fedvg/error.h"
#include "models/finite.h"

namespace fedvg {
namespace {

using Kind = TensorMisfit::Kind;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

bool is_floating(const std::string& dtype) {
  return dtype == "F16" || dtype == "BF16" || dtype == "F32" || dtype == "F64";
}

// PyTorch's own loader lets this one be absent too.
bool may_be_missing(std::string_view name) { return name.ends_with("num_batches_tracked"); }

std::string line_of(const TensorMisfit& misfit) {
  switch (misfit.kind) {
    case Kind::missing:
      return misfit.name + ": missing; the model has it with shape " + shape_text(misfit.in_model);
    case Kind::surplus:
      return misfit.name + ": not in the model; the file has it with shape " +
             shape_text(misfit.in_file);
    case Kind::reshaped:
      return misfit.name + ": " + shape_text(misfit.in_file) + " in the file, " +
             shape_text(misfit.in_model) + " in the model";
    case Kind::mistyped:
      return misfit.name + ": of type " + misfit.dtype + " in the file, " +
             (is_floating(misfit.dtype) ? "whole numbers" : "floating-point") + " in the model";
  }
  return misfit.name;
}

bool of_other_classes(const TensorMisfit& misfit) {
  const auto &ours = misfit.in_model, &theirs = misfit.in_file;
  return misfit.kind == Kind::reshaped && !ours.empty() && ours.size() == theirs.size() &&
         std::equal(ours.begin() + 1, ours.end(), theirs.begin() + 1);
}

}  // namespace

std::vector<TensorMisfit> misfits(const std::vector<NamedArray>& arrays,
                                  const std::vector<NamedTensor>& targets) {
  std::map<std::string, const NamedArray*> in_file;
  for (const auto& array : arrays) in_file[array.name] = &array;
  std::vector<TensorMisfit> found;
  for (const auto& target : targets) {
    const auto shape = target.tensor.sizes().vec();
    const auto entry = in_file.find(target.name);
    if (entry == in_file.end()) {
      if (!may_be_missing(target.name))
        found.push_back({Kind::missing, target.name, {}, shape, ""});
      continue;
    }
    const NamedArray& array = *entry->second;
    in_file.erase(entry);
    if (array.shape != shape) {
      found.push_back({Kind::reshaped, target.name, array.shape, shape, array.dtype});
    } else if (is_floating(array.dtype) != target.tensor.is_floating_point()) {
      found.push_back({Kind::mistyped, target.name, array.shape, shape, array.dtype});
    }
  }
  for (const auto& array : arrays) {
    if (!in_file.contains(array.name)) continue;
    found.push_back({Kind::surplus, array.name, array.shape, {}, array.dtype});
  }
  return found;
}

std::string text_of(const std::vector<TensorMisfit>& misfits) {
  std::string text;
  for (const auto& misfit : misfits) text += (text.empty() ? "" : "\n") + line_of(misfit);
  return text;
}

void load_named_arrays(const std::vector<NamedArray>& arrays,
                       const std::vector<NamedTensor>& targets) {
  const auto wrong = misfits(arrays, targets);
  if (!wrong.empty()) {
    throw DataError(std::to_string(wrong.size()) +
                    (wrong.size() == 1 ? " tensor does" : " tensors do") + " not fit the model:\n" +
                    text_of(wrong));
  }
  std::map<std::string, at::Tensor> in_file;
  for (const auto& array : arrays) in_file[array.name] = to_tensor(array);
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;  // all first: a bad one changes nothing
  for (const auto& target : targets) {
    const auto found = in_file.find(target.name);
    if (found == in_file.end()) continue;
    copies.emplace_back(target.tensor, found->second.to(target.tensor.scalar_type()));
    check_finite(target.name, found->second, copies.back().second);
  }
  for (const auto& [tensor, value] : copies) tensor.copy_(value);
}

std::vector<TensorMisfit> load_but_other_head(const std::vector<NamedArray>& arrays,
                                              const std::vector<NamedTensor>& targets,
                                              const std::string& head) {
  const auto in_head = [&](const auto& entry) {
    return !head.empty() && entry.name.starts_with(head + ".");
  };
  std::vector<TensorMisfit> replaced;
  for (const auto& misfit : misfits(arrays, targets)) {
    if (in_head(misfit) && of_other_classes(misfit)) replaced.push_back(misfit);
  }
  if (replaced.empty()) {
    load_named_arrays(arrays, targets);
    return replaced;
  }
  auto body = arrays;
  auto body_targets = targets;
  std::erase_if(body, in_head);
  std::erase_if(body_targets, in_head);
  load_named_arrays(body, body_targets);
  return replaced;
}

}  // namespace fedvg
