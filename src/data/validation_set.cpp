#include "data/validation_set.h"

#include <cstddef>
#include <utility>

#include "data/choice.h"
#include "data/class_mapping.h"
#include "data/resize.h"
#include "data/validation.h"
#include "data/wording.h"
#include "fedvg/error.h"
#include "fedvg/value.h"

namespace fedvg {
namespace {

std::string quoted(const std::string& text) { return '"' + text + '"'; }

std::string shape(const Samples& samples) {
  return std::to_string(samples.height) + " x " + std::to_string(samples.width);
}

void remove_from_clients(std::vector<IndexList>& clients, const IndexList& validation,
                         std::int64_t samples) {
  std::vector<bool> held_out(static_cast<std::size_t>(samples));
  for (const std::int64_t index : validation) held_out[static_cast<std::size_t>(index)] = true;
  for (auto& client : clients) {
    std::erase_if(client, [&](std::int64_t i) { return held_out[static_cast<std::size_t>(i)]; });
  }
}

void note_unused(FederatedData& data, const Partition& partition,
                 const ValidationOptions& options) {
  const std::string chosen = "validation.source = " + quoted(options.source);
  if (options.source != "holdout" && partition.validation && !partition.validation->empty()) {
    data.notes.push_back(chosen + ": the " +
                         counted(std::ssize(*partition.validation), "validation sample") +
                         " of the partition file stay unused");
  }
  if (options.source != "official" && data.dataset.validation) {
    data.notes.push_back(chosen + ": the data set's own validation part of " +
                         counted(data.dataset.validation->size(), "sample") +
                         " stays unused (\"official\" takes it)");
    data.dataset.validation.reset();
  }
  if (options.source != "none") return;
  const ValidationOptions initial;
  const auto without_effect = [&](const char* key, const Value& value, const Value& off) {
    if (value == off) return;
    data.notes.push_back(std::string("validation.") + key + " = " + value.text() +
                         " has no effect with " + chosen);
  };
  without_effect("size", options.size, initial.size);
  without_effect("imbalance", options.imbalance, initial.imbalance);
  without_effect("noise", options.noise, initial.noise);
}

std::string of_training(const FederatedData& data) {
  return " of the " + std::to_string(data.dataset.training.size()) +
         (data.pooled ? " pooled samples" : " training samples");
}

void take_file_validation(FederatedData& data, IndexList validation,
                          const ValidationOptions& options) {
  if (validation.empty()) {
    throw DataError(
        "\"validation\" of the partition file is empty: set validation.source = "
        "\"none\", or remove it from the file to have D_val held out");
  }
  data.held_out = std::move(validation);
  data.notes.push_back("D_val: " + std::to_string(data.held_out.size()) + of_training(data) +
                       ", as the partition file says");
  if (options.ratio != ValidationOptions{}.ratio) {
    data.notes.push_back("validation.ratio = " + Value(options.ratio).text() +
                         " does not apply: the partition file brings D_val");
  }
}

void take_drawn_validation(FederatedData& data, const IndexList& drawn,
                           const ValidationOptions& options) {
  if (drawn.empty() && data.pooled) {
    throw OptionError(
        "data.val_ratio: no client has enough samples to give one to D_val; raise it, lower "
        "partition.clients, or set validation.source = \"none\"");
  }
  if (drawn.empty()) {
    throw OptionError("validation.ratio = " + Value(options.ratio).text() + of_training(data) +
                      " is no sample at all: raise it, or set validation.source = \"none\"");
  }
  data.held_out = drawn;
  remove_from_clients(data.clients, drawn, data.dataset.training.size());
  data.notes.push_back("D_val: " + std::to_string(drawn.size()) + of_training(data) +
                       (data.pooled ? ", data.val_ratio of each client's"
                                    : " held out of the training set before the partition, "
                                      "stratified by class"));
}

void take_official_validation(FederatedData& data) {
  if (!data.dataset.validation || data.dataset.validation->size() == 0) {
    throw OptionError("validation.source = \"official\": " + data.dataset.name + " (" +
                      data.dataset.source +
                      ") has no validation part of its own; \"holdout\" holds a part of the "
                      "training set out, \"file\" takes another data set, \"none\" does without");
  }
  data.validation_set = std::move(data.dataset.validation);
  data.dataset.validation.reset();
  data.notes.push_back("D_val: the " + counted(data.validation_set->size(), "sample") +
                       " of the data set's own validation part");
}

void take_foreign_validation(FederatedData& data, const ValidationOptions& options,
                             const ForeignColumns& columns) {
  ForeignSet foreign = read_foreign_set(options.path, options.format, columns);
  const auto& own = data.dataset.classes;
  const ClassMapping mapping = options.mapping.empty()
                                   ? classes_of_equal_names(own, foreign.classes, options.path)
                                   : read_class_mapping(options.mapping, own, foreign.classes);
  const auto dropped = dropped_samples(foreign.samples, mapping, foreign.classes);
  Samples samples = mapped_samples(foreign.samples, mapping);
  if (samples.size() == 0) {
    throw DataError(options.path + ": no sample is left for D_val: " + dropped);
  }
  data.notes.push_back("D_val: " + counted(samples.size(), "sample") + " of " + options.path +
                       " (" + foreign.format + ")");
  if (!dropped.empty()) data.notes.push_back(options.path + ": " + dropped);
  data.validation_set =
      in_form_of(data.dataset.training, std::move(samples), options.path, data.notes);
}

// D_val as it stands, or what validation.imbalance and validation.size leave of it.
void choose(FederatedData& data, const ValidationOptions& options, std::uint64_t seed) {
  const auto& labels = data.validation_samples().labels;
  const auto classes = static_cast<std::int64_t>(data.dataset.classes.size());
  const IndexList pool =
      data.validation_set ? all_positions(data.validation_set->size()) : data.held_out;
  const IndexList left = imbalanced(options, pool, labels, classes, seed);
  if (left.empty()) {
    throw OptionError("validation.imbalance = " + Value(options.imbalance).text() +
                      " leaves no sample of the " + std::to_string(pool.size()) +
                      " of D_val: its classes need more, or set it to 0");
  }
  data.validation = limited(options, left, labels, classes, seed);
  if (left.size() < pool.size()) {
    data.notes.push_back("validation.imbalance = " + Value(options.imbalance).text() + ": " +
                         std::to_string(left.size()) + " of them are left, the others unused");
  }
  if (data.validation.size() < left.size()) {
    data.notes.push_back("validation.size: " + std::to_string(data.validation.size()) +
                         " of them are used, the others by nobody");
  }
  if (data.validation.size() == 1) {
    data.notes.push_back("D_val is a single sample: weights that look at it follow that one");
  }
  auto missing =
      missing_classes(data.validation, labels, data.dataset.training.labels, data.dataset.classes);
  if (!missing.empty()) data.notes.push_back(std::move(missing));
}

}  // namespace

std::vector<WrongSetting> wrong_settings(const ValidationOptions& options) {
  const ValidationOptions initial;
  std::vector<WrongSetting> wrong;
  const auto belongs_to = [&](const std::string& source, const char* key, bool changed) {
    if (!changed || options.source == source) return;
    wrong.push_back(
        {std::string("validation.") + key, "is for validation.source = " + quoted(source) +
                                               ", but the source is " + quoted(options.source)});
  };
  belongs_to("holdout", "ratio", options.ratio != initial.ratio);
  belongs_to("file", "path", options.path != initial.path);
  belongs_to("file", "format", options.format != initial.format);
  belongs_to("file", "mapping", options.mapping != initial.mapping);
  if (options.source == "file" && options.path.empty()) {
    wrong.push_back({"validation.path",
                     "is missing: validation.source = \"file\" takes D_val from "
                     "the data set that it names"});
  }
  return wrong;
}

void settle_validation(FederatedData& data, Partition& partition, const IndexList& drawn,
                       const ValidationOptions& options, std::uint64_t seed,
                       const ForeignColumns& columns) {
  note_unused(data, partition, options);
  if (options.source == "none") return;
  if (options.source == "official") {
    take_official_validation(data);
  } else if (options.source == "file") {
    take_foreign_validation(data, options, columns);
  } else if (partition.validation) {
    take_file_validation(data, std::move(*partition.validation), options);
  } else {
    take_drawn_validation(data, drawn, options);
  }
  choose(data, options, seed);
}

void add_validation_noise(FederatedData& data, const ValidationOptions& options,
                          std::uint64_t seed) {
  if (options.noise == 0 || data.validation.empty()) return;
  data.validation_set = noisy_copy(options, data.validation_samples(), data.validation, seed);
  data.validation = all_positions(data.validation_set->size());
  data.notes.push_back("validation.noise = " + Value(options.noise).text() + ": added to the " +
                       counted(std::ssize(data.validation), "sample") + " of D_val");
}

Samples in_form_of(const Samples& training, Samples foreign, const std::string& path,
                   std::vector<std::string>& notes) {
  const auto kind = [](const Samples& samples) {
    return samples.is_features
               ? std::to_string(samples.channels) + " features"
               : shape(samples) + " images of " + counted(samples.channels, "channel");
  };
  const bool repeated = !training.is_features && foreign.channels == 1 && training.channels == 3;
  if (foreign.is_features != training.is_features ||
      (foreign.channels != training.channels && !repeated)) {
    throw DataError(path + ": D_val would have " + kind(foreign) + ", but the training set has " +
                    kind(training));
  }
  if (foreign.height != training.height || foreign.width != training.width) {
    if (training.height != training.width) {
      throw DataError(path + ": its " + shape(foreign) +
                      " images cannot be resized to those of the training set, which are not "
                      "square: " +
                      shape(training));
    }
    notes.push_back(path + ": images of " + shape(foreign) + " resized to the training size " +
                    shape(training));
    foreign = resized(foreign, training.height);
  }
  if (!repeated) return foreign;
  notes.push_back(path + ": gray images repeated to 3 channels");
  Samples wide = std::move(foreign);
  std::vector<std::uint8_t> gray;
  gray.swap(wide.pixels);
  const auto plane = static_cast<std::ptrdiff_t>(wide.image_bytes());
  wide.channels = 3;
  wide.pixels.reserve(3 * gray.size());
  for (auto image = gray.begin(); image != gray.end(); image += plane) {
    for (int channel = 0; channel < 3; ++channel) {
      wide.pixels.insert(wide.pixels.end(), image, image + plane);
    }
  }
  return wide;
}

}  // namespace fedvg
