#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fedvg/dataset.h"
#include "fedvg/model.h"

namespace fedvg {

/// Builds a model for these samples, to look at. `name` is the network's, for messages.
/// Throws OptionError as the builder does, naming the options of a network that is too large,
/// and for features when the network convolves.
std::unique_ptr<Model> model_for(const ModelBuilder& builder, const Samples& samples,
                                 std::int64_t classes, const std::string& name);

/// The most of `workers`, but one at least, with which a run holds its copies of a model of
/// `bytes` in half of the machine's memory: the other half is for the batches' activations.
std::int64_t workers_that_fit(double bytes, std::int64_t workers, std::int64_t parts);

/// Throws OptionError, naming the options that decide the model's size, when a run with so many
/// workers and sums would hold more copies of a model of `bytes` than the machine's memory.
void check_copies(double bytes, std::int64_t workers, std::int64_t parts, const std::string& name);

/// What the data ask of a model.
ModelInput model_input(const Samples& samples, std::int64_t classes);

/// Channels of a batch: those of the samples, or three to which gray images are repeated.
/// Throws OptionError when the model takes another number.
std::int64_t batch_channels(const Model& model, const Samples& samples, const std::string& name);

}  // namespace fedvg
