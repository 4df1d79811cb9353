#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/problems.h"
#include "config/section.h"

namespace fedvg::config {

/// A part option and the parts that it stands for just now.
struct Use {
  std::string option;
  std::string kind;
  std::vector<std::string> chosen;  ///< several for a list of parts
  bool beside = false;
};

/// A table of options while it is resolved, as far as messages about keys that do not
/// belong there need to know it.
struct Scope {
  std::string where = {};                          ///< dotted key, empty at the top
  std::string title = {};                          ///< "in [train]", "of correction fedprox"
  const Scope* outer = nullptr;                    ///< of a part: the table that it stands in
  std::vector<std::string> candidates = {};        ///< the options that may stand here
  std::vector<Use> uses = {};                      ///< of a part: itself first
  const std::vector<Section>* sections = nullptr;  ///< null: not known
};

/// Adds the message about a key that `scope` does not have: it belongs to a part that is
/// not in use; or inside one that is; or it is unknown, with the section that has such
/// an option, the nearest candidate and all of them.
void report_unknown(const Scope& scope, const std::string& key, const Value& value,
                    Problems& problems);

}  // namespace fedvg::config
