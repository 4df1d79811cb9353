#include "engine/model_input.h"

#include <algorithm>

#include "data/wording.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "models/model_memory.h"

namespace fedvg {
namespace {

[[noreturn]] void refuse_features(const Samples& samples, const std::string& name) {
  throw OptionError("model.name: " + name + " takes images, and the data are " +
                    std::to_string(samples.channels) +
                    " features a sample; take model.name = \"mlp\"");
}

/// "model.patch, model.channels": what decides how large a network is.
std::string size_options(const std::string& model) {
  const PartInfo* info = Catalog::instance().find(ModelBuilder::kind, model);
  std::string names;
  for (const Field& field : info ? info->schema : Schema{}) {
    if (field.type != OptionType::integer && field.type != OptionType::integers) continue;
    names += (names.empty() ? "model." : ", model.") + field.name;
  }
  return names.empty() ? "model.name" : names;
}

/// As least_copies, for these.
double copies_held(std::int64_t workers, std::int64_t parts) {
  return static_cast<double>(1 + 2 * workers + 2 * parts);
}

}  // namespace

std::int64_t workers_that_fit(double bytes, std::int64_t workers, std::int64_t parts) {
  while (workers > 1 && bytes * copies_held(workers, parts) > machine_memory() / 2) --workers;
  return workers;
}

void check_copies(double bytes, std::int64_t workers, std::int64_t parts, const std::string& name) {
  const double copies = copies_held(workers, parts);
  if (bytes * copies <= machine_memory()) return;
  throw OptionError(size_options(name) + ": a model of " + memory_text(bytes) + " takes " +
                    memory_text(bytes * copies) + " in a run with " + counted(workers, "worker") +
                    ", and this machine has " + memory_text(machine_memory()) +
                    " of memory; take smaller sizes" +
                    (workers > 1 ? " or fewer workers (engine.workers)" : ""));
}

ModelInput model_input(const Samples& samples, std::int64_t classes) {
  return {samples.channels, samples.height, samples.width, classes};
}

std::unique_ptr<Model> model_for(const ModelBuilder& builder, const Samples& samples,
                                 std::int64_t classes, const std::string& name) {
  std::unique_ptr<Model> model;
  try {
    model = builder.build(model_input(samples, classes));
  } catch (const ModelTooLarge& error) {
    throw OptionError(size_options(name) + ": " + error.what() + "; take smaller sizes");
  } catch (const OptionError&) {  // an extent of 1 x 1 is none that a network should complain of
    if (samples.is_features) refuse_features(samples, name);
    throw;
  }
  const auto& parameters = model->parameters();
  const bool convolves = std::any_of(parameters.begin(), parameters.end(),
                                     [](const auto& p) { return p.tensor.dim() == 4; });
  if (samples.is_features && convolves) refuse_features(samples, name);
  return model;
}

std::int64_t batch_channels(const Model& model, const Samples& samples, const std::string& name) {
  constexpr std::int64_t kColours = 3;
  const std::int64_t wanted = model.input_channels();
  if (samples.is_features || wanted == 0 || wanted == samples.channels) return samples.channels;
  if (samples.channels == 1 && wanted == kColours) return wanted;
  throw OptionError("model.name: " + name + " takes images of " + counted(wanted, "channel") +
                    ", these have " + counted(samples.channels, "channel") +
                    (samples.channels == kColours
                         ? "; take a model of 3 channels, or gray images"
                         : "; only gray images are repeated, to 3 channels"));
}

}  // namespace fedvg
