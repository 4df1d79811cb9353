#pragma once

#include <string>
#include <vector>

#include "config/section.h"

namespace fedvg::config {

/// What `fedvg list [KIND [NAME]]` prints, 100 columns wide: without `kind` every kind of
/// part with one line for each part, and the sections; with `kind` its parts (and the
/// section of that name); with `name` the options of one part. Throws OptionError with
/// the candidates for a kind, section or name that does not exist.
std::string list_text(const std::vector<Section>& sections, const std::string& kind = "",
                      const std::string& name = "");

/// docs/configuration.md: every section with its options, and below it the parts that
/// its options may choose. A kind that several sections use is described once.
std::string reference_markdown(const std::vector<Section>& sections);

/// "integer, default 32, >= 1": what an option takes, for people.
std::string takes_text(const Field& field);

}  // namespace fedvg::config
