#pragma once

#include <string>

#include "data/channel_statistics.h"
#include "data/federated_data.h"
#include "engine/federation.h"
#include "fedvg/combiner.h"
#include "fedvg/model.h"

// What a federation refuses before it starts, and what it says of its setup. Each throws
// OptionError, or DataError where data are at fault, that names the options and what helps.

namespace fedvg {

struct DriverSetup;

/// Labels of training set, test set and D_val fit the number of classes.
void check_labels(const FederatedData& data);

/// A combiner that takes no weights goes with rules that give none; a budget of D_val with rules
/// that can say how far a part of it is from all of it; who needs D_val has it.
void check_parts(const FederationSetup& setup, const DriverSetup& driver, bool has_validation);

/// Batches of one sample would all be skipped by BatchNorm.
void check_batch_size(const Model& model, const FederationSetup& setup);

/// A network that draws from libtorch's one generator goes with one worker.
void check_draws(const Model& model, const FederationSetup& setup, FederationInfo& info);

/// A combiner that keeps all updates of a round must fit into engine.memory: of a model of
/// `model_bytes`.
void check_kept_updates(const FederationSetup& setup, const Combiner& combiner,
                        std::int64_t model_bytes);

/// Adds what data and setup leave without effect, or mean by themselves, to info.notes.
void note_data(const FederatedData& data, const ChannelStatistics& statistics,
               FederationInfo& info);
void note_line(Line line, FederationInfo& info);
void note_idle_options(const FederationSetup& setup, const Model& model, bool keeps_updates,
                       FederationInfo& info);

}  // namespace fedvg
