#pragma once

#include <string>
#include <vector>

#include "engine/model_file.h"
#include "engine/round_driver.h"

// The global model of a federation as named arrays: what model.safetensors holds.

namespace fedvg {

/// Parameters in model order, then buffers.
std::vector<NamedArray> global_model(const RoundDriver& driver);

/// Replaces it, but for a `head` of other classes, whose misfits are returned; "": all of it.
/// Throws DataError as load_named_arrays() does.
std::vector<TensorMisfit> load_global_model(const std::vector<NamedArray>& arrays,
                                            const std::string& head, RoundDriver& driver);

/// Replaces it by the safetensors file of model.init, with a note where the head starts as drawn.
void load_initial_model(const std::string& path, const std::string& head, RoundDriver& driver,
                        FederationInfo& info);

}  // namespace fedvg
