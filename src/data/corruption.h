#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/federated_data.h"
#include "data/wrong_setting.h"
#include "fedvg/options.h"

namespace fedvg {

/// [corruption]
struct CorruptionOptions {
  double share = 0;
  std::string kind = "";
  double level = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("share", &CorruptionOptions::share, between(0, 1),
          "so many of the clients are corrupted: the last floor(share * N) of a seeded "
          "permutation; 0: none");
    visit("kind", &CorruptionOptions::kind,
          OneOf{{"label-flip", "label-noise", "image-noise", "scaled-update", "sign-flip"}},
          "label-flip: label y becomes C - 1 - y; label-noise: a share of the labels is drawn "
          "anew from all classes; image-noise: Gaussian noise on the images; scaled-update: what "
          "the client learned, times level; sign-flip: times -level");
    visit("level", &CorruptionOptions::level, at_least(0),
          "label-noise: share of the labels, up to 1; image-noise: standard deviation in units of "
          "[0, 1], clamped (features: in their own units); scaled-update, sign-flip: the factor; "
          "label-flip has none");
  }
};

/// A share without a kind, a level that the kind does not have, or one that it lacks.
std::vector<WrongSetting> wrong_settings(const CorruptionOptions& options);

/// The kinds that change what a client sends, not its data.
bool changes_updates(const CorruptionOptions& options);

/// What the update of a corrupted client is multiplied by: level, -level, or 1 for the kinds
/// that change data.
double update_factor(const CorruptionOptions& options);

/// By client: the last floor(share * clients) of the permutation Random(seed, "corruption").
std::vector<bool> corrupted_clients(const CorruptionOptions& options, std::int64_t clients,
                                    std::uint64_t seed);

/// Sets data.corrupted (left empty with share 0) and, for the kinds that change
/// data, labels or pixels of those clients' samples in dataset.training, client k from
/// Random(seed, "corruption-data", 0, k). D_val, test set, identity and counts stay those of
/// the true data, which the notes say. Throws OptionError: wrong_settings(), or a corrupted
/// client whose samples another client holds too.
void corrupt_clients(FederatedData& data, const CorruptionOptions& options, std::uint64_t seed);

/// "4 of 20 clients: image-noise, level = 0.5"
std::string corruption_text(const CorruptionOptions& options, const std::vector<bool>& corrupted);

}  // namespace fedvg
