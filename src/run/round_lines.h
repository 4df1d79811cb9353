#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/round_tables.h"

namespace fedvg {

/// The aligned line of each round that a person watches: round, test accuracy and loss,
/// largest and smallest weight, rejected clients, seconds, time to the end. "-": not measured.
std::string round_title();
std::string round_line(const RoundResult& result, std::optional<double> seconds_left);

/// Four decimals, or an exponent for what is large; "inf", and "nan" whatever its sign.
std::string figure_text(double figure);

/// "42 s", "3:07", "1:02:30"
std::string duration_text(double seconds);

/// What a round asks a person to know: it was void, clients were rejected or took no step. Those
/// that drop out are expected to.
std::vector<std::string> round_warnings(const RoundRecord& record);

/// What is to be known of an evaluation whose loss is not finite: of which model ("global
/// model"), on which `set`, and how many samples have no prediction. Empty: it is finite.
std::string loss_warning(const Evaluation& evaluation, const std::string& model,
                         const std::string& set);

}  // namespace fedvg
