#include "run/checkpoints/run_inputs.h"

#include "data/content_hash.h"
#include "data/fingerprint.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

std::string hash_of_file(const std::string& path) {
  ContentHash hash;
  hash.add_text(text_in(path));
  return hash.digits();
}

}  // namespace

std::map<std::string, std::string> hashes_of_inputs(const Experiment& experiment) {
  std::map<std::string, std::string> hashes;
  const auto add_samples = [&](const std::string& what, const Samples& samples) {
    hashes[what] = fingerprint(samples, image_hashes(samples));
  };
  const FederatedData& data = experiment.data();
  hashes["the training set"] = data.identity.fingerprint;
  if (data.dataset.test.size() > 0) add_samples("the test set", data.dataset.test);
  if (data.validation_set) add_samples("D_val", *data.validation_set);
  const Configuration& configuration = experiment.configuration();
  for (const auto& [key, path] : {std::pair("train.cohorts", configuration.cohorts.cohorts),
                                  std::pair("model.init", configuration.initial_model)}) {
    if (!path.empty()) hashes[std::string("the file of ") + key] = hash_of_file(path);
  }
  return hashes;
}

}  // namespace fedvg
