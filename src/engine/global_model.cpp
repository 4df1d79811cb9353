#include "engine/global_model.h"

#include "engine/named_arrays.h"
#include "fedvg/error.h"

namespace fedvg {

std::vector<NamedArray> global_model(const RoundDriver& driver) {
  std::vector<NamedArray> arrays;
  const Layout& layout = driver.model_layout();
  const at::Tensor w = driver.model();
  for (std::size_t i = 0; i < layout.tensors(); ++i) {
    arrays.push_back(to_array(layout.slots()[i].name, layout.view(w, i)));
  }
  const auto& names = driver.buffer_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    arrays.push_back(to_array(names[i].name, driver.buffers()[i]));
  }
  return arrays;
}

std::vector<TensorMisfit> load_global_model(const std::vector<NamedArray>& arrays,
                                            const std::string& head, RoundDriver& driver) {
  const Layout& layout = driver.model_layout();
  const at::Tensor w = driver.model().clone();
  std::vector<NamedTensor> targets;
  for (std::size_t i = 0; i < layout.tensors(); ++i) {
    targets.push_back({layout.slots()[i].name, layout.slots()[i].block, layout.view(w, i)});
  }
  Tensors buffers;
  const auto& names = driver.buffer_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    buffers.push_back(driver.buffers()[i].clone());
    targets.push_back({names[i].name, names[i].block, buffers.back()});
  }
  const auto replaced = load_but_other_head(arrays, targets, head);
  driver.set_global(w, buffers);
  return replaced;
}

void load_initial_model(const std::string& path, const std::string& head, RoundDriver& driver,
                        FederationInfo& info) {
  const TensorFile file = read_safetensors(path);
  std::vector<TensorMisfit> replaced;
  try {
    replaced = load_global_model(file.tensors, head, driver);
  } catch (const DataError& error) {
    throw DataError("model.init: " + path + ": " + error.what());
  }
  if (replaced.empty()) return;
  info.notes.push_back("model.init: the file's classifier is of other classes, " + head +
                       " starts as drawn (" + text_of({replaced[0]}) + ")");
}

}  // namespace fedvg
