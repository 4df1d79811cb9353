#include "data/check_dataset.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "data/resize.h"
#include "data/utf8.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

std::string image_size(const Samples& samples) {
  return std::to_string(samples.channels) + " x " + std::to_string(samples.height) + " x " +
         std::to_string(samples.width);
}

void check_part(const Dataset& dataset, const Samples& part, const std::string& name) {
  const std::string what = dataset.source + ": the " + name + " set";
  if (part.size() == 0) throw DataError(what + " is empty");
  if (static_cast<std::int64_t>(part.pixels.size()) != part.size() * part.image_bytes()) {
    throw DataError(what + " has " + std::to_string(part.size()) + " labels, but " +
                    std::to_string(part.pixels.size()) + " bytes of images of " + image_size(part));
  }
  if (image_size(part) != image_size(dataset.training)) {
    throw DataError(what + " has images of " + image_size(part) + ", but the training set of " +
                    image_size(dataset.training) + ": they belong to different data sets");
  }
  const auto classes = static_cast<std::int64_t>(dataset.classes.size());
  for (std::size_t i = 0; i < part.labels.size(); ++i) {
    const std::int64_t label = part.labels[i];
    if (label >= 0 && label < classes) continue;
    throw DataError(what + " has label " + std::to_string(label) + " at sample " +
                    std::to_string(i) + " (counted from 0), but there are " +
                    std::to_string(classes) + " classes, 0 to " + std::to_string(classes - 1));
  }
}

void check_names(const Dataset& dataset) {
  for (std::size_t c = 0; c < dataset.classes.size(); ++c) {
    check_name(dataset.classes[c], dataset.source + ": class " + std::to_string(c) + " is",
               "give it a name of printable UTF-8");
  }
  const auto& owners = dataset.training.owners;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    check_name(owners[i], dataset.source + ": the client of sample " + std::to_string(i) + " is",
               "give it a name of printable UTF-8");
  }
}

// For readers that did not do it themselves.
void bring_to(Samples& samples, std::int64_t size) {
  if (samples.is_features || samples.height != size || samples.width != size) {
    samples = resized(samples, size);
  }
}

}  // namespace

Dataset DatasetReader::read(const ReadRequest& request) const {
  Dataset dataset = load(request);
  check_dataset(dataset);
  if (request.resize > 0) {
    bring_to(dataset.training, request.resize);
    bring_to(dataset.test, request.resize);
    if (dataset.validation) bring_to(*dataset.validation, request.resize);
  }
  return dataset;
}

void check_dataset(const Dataset& dataset) {
  check_names(dataset);
  check_part(dataset, dataset.training, "training");
  check_part(dataset, dataset.test, "test");
  if (dataset.validation) check_part(dataset, *dataset.validation, "validation");
}

}  // namespace fedvg
