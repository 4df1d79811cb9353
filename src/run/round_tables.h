#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/federation.h"

// The columns of a run folder's tables. Their meaning is fixed (docs/formats.md): a
// column may be added at the end, never moved or given another sense.

namespace fedvg {

/// One finished round as rounds.csv tells it.
struct RoundResult {
  RoundRecord record;
  std::optional<Evaluation> test;        ///< of the model after the round, where it was due
  std::optional<Evaluation> validation;  ///< likewise, and only with D_val
  std::optional<ClientFigures> clients;  ///< likewise, and only where it is asked for
  double seconds = 0;                    ///< wall time of the round with its evaluation
  double seconds_evaluate = 0;
};

/// Header lines, with the line end.
std::string rounds_header();
std::string clients_header();
std::string layers_header();
std::string classes_header();

std::string rounds_line(const RoundResult& result);
/// One line for each participant, in the order of the cohort.
std::string clients_lines(const RoundRecord& record);
/// One line for each participant and trainable tensor of the model.
std::string layers_lines(const RoundRecord& record, const std::vector<TensorInfo>& tensors);
/// One line for each class on the test set, where it was evaluated. `classes`: their names.
std::string classes_lines(const RoundResult& result, const std::vector<std::string>& classes);
/// The whole of confusion.csv: a header of names, then one line for each true class. A last
/// column "(none)" where samples have no prediction.
std::string confusion_table(const Confusion& confusion, const std::vector<std::string>& classes);

}  // namespace fedvg
