#pragma once

#include <string>
#include <vector>

#include "fedvg/options.h"

namespace fedvg {

/// What a run simulates: a federation, or one of the two lines it is compared with.
enum class Line {
  federated,
  centralized,  ///< the clients' samples pooled: one client, every round
  local,        ///< clients share nothing: figures are means over clients' own models
};

/// Correction x WeightingRule x ServerOptimizer, and how the updates are combined.
struct Method {
  std::string name = "fedavg";  ///< as shown: "fedprox", "fedprox+fedvg", …
  Line line = Line::federated;
  Part correction{"none", {}};
  Part weighting{"size", {}};
  Part server{"sgd", {}};
  Part combiner{"mean", {}};
};

/// A named row of the table of methods: the parts it stands for, and one line of help.
struct MethodRow {
  Method parts;
  std::string help;
};

/// Adds a row; a part's file does it where the part is registered:
///
///     FEDVG_METHOD((Method{.name = "fedprox", .correction = {"fedprox", {}}}), "FedAvg + pull");
///
/// A second row of one name is a programming error: aborts.
bool add_method(Method parts, std::string help);

/// Sorted by name.
std::vector<const MethodRow*> method_rows();

/// The row `name`, or a combination "X+fedvg" (in either order): X with the weights of
/// FedVG; "fedavg+fedvg" is the mean of FedVG's weights and the sizes. Throws OptionError
/// with the known names for anything else.
Method compose_method(const std::string& name);

/// True when this weighting looks at D_val. Throws OptionError for a part that cannot be made.
bool needs_validation(const Part& weighting);

#define FEDVG_METHOD(PARTS, HELP)                                     \
  [[maybe_unused]] const bool FEDVG_CONCAT(fedvg_method_, __LINE__) = \
      ::fedvg::add_method(PARTS, HELP)

}  // namespace fedvg
