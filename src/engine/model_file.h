#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedvg/model.h"
#include "models/safetensors.h"

namespace fedvg {

/// A tensor of a file or of a model that has no partner in the other, or not the right one.
struct TensorMisfit {
  enum class Kind {
    missing,   ///< the model has it, the file does not
    surplus,   ///< the file has it, the model does not
    reshaped,  ///< of another shape
    mistyped,  ///< whole numbers where the model has fractions, or the other way round
  };
  Kind kind;
  std::string name;
  std::vector<std::int64_t> in_file, in_model;  ///< shapes; empty where there is none
  std::string dtype;                            ///< of the file's

  bool operator==(const TensorMisfit&) const = default;
};

/// What keeps `arrays` from being loaded into `targets` by name: first the model's tensors, in
/// model order, then the file's surplus. BatchNorm's counters (NAME.num_batches_tracked) may
/// be missing, as in files of old.
std::vector<TensorMisfit> misfits(const std::vector<NamedArray>& arrays,
                                  const std::vector<NamedTensor>& targets);

/// One line for each: "fc.weight: [10, 128] in the file, [10, 64] in the model".
std::string text_of(const std::vector<TensorMisfit>& misfits);

/// Copies each array into the tensor of its name, as that tensor's type (float16, bfloat16,
/// float32 and float64 into one another). Throws DataError listing every misfit, or naming a
/// tensor with a number that is not finite in that type, before anything is written.
void load_named_arrays(const std::vector<NamedArray>& arrays,
                       const std::vector<NamedTensor>& targets);

/// The same for a file whose model told apart other classes: where tensors of `head` (their
/// names start with it and a dot) differ from the file's in their first extent alone, all of
/// the head stays as it is. Returns those that differ.
std::vector<TensorMisfit> load_but_other_head(const std::vector<NamedArray>& arrays,
                                              const std::vector<NamedTensor>& targets,
                                              const std::string& head);

}  // namespace fedvg
