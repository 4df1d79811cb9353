#include "engine/worker_count.h"

#include <algorithm>

#include "data/wording.h"
#include "engine/cores.h"
#include "engine/federation_checks.h"
#include "engine/model_input.h"
#include "models/model_memory.h"

namespace fedvg {
namespace {

void limit_to_cohort(const FederationSetup& setup, FederationInfo& info) {
  if (setup.largest_cohort == 0 || info.workers <= setup.largest_cohort) return;
  if (setup.engine.workers > 0) {
    info.notes.push_back("workers: " + std::to_string(info.workers) + " asked for, " +
                         std::to_string(setup.largest_cohort) +
                         " used: a round has no more participants");
  }
  info.workers = setup.largest_cohort;
}

void note_crowded_cores(const FederationSetup& setup, std::int64_t cores, FederationInfo& info) {
  const std::int64_t threads = setup.engine.threads;
  if (info.workers * threads <= cores) return;
  const std::string each = threads == 1 ? "" : " with " + std::to_string(threads) + " threads each";
  info.notes.push_back(counted(info.workers, "worker") + each + " on " + counted(cores, "core") +
                       ": slower than as many threads as cores");
}

void limit_to_memory(double model_bytes, FederationInfo& info) {
  const auto fitting = workers_that_fit(model_bytes, info.workers, info.score_parts);
  if (fitting >= info.workers) return;
  info.notes.push_back("workers: " + std::to_string(fitting) + " instead of " +
                       std::to_string(info.workers) + ", each with a model of " +
                       memory_text(model_bytes) + ", so that half of the memory stays free; " +
                       "engine.threads gives the other cores work");
  info.workers = fitting;
}

}  // namespace

void settle_workers(const FederationSetup& setup, const Model& model, double model_bytes,
                    FederationInfo& info) {
  const auto cores = static_cast<std::int64_t>(allowed_cores().size());
  info.workers = setup.engine.workers > 0 ? setup.engine.workers
                                          : std::max(std::int64_t{1}, cores / setup.engine.threads);
  limit_to_cohort(setup, info);
  check_draws(model, setup, info);
  note_crowded_cores(setup, cores, info);
  if (setup.engine.workers == 0) limit_to_memory(model_bytes, info);
  check_copies(model_bytes, info.workers, info.score_parts, setup.model.name);
}

}  // namespace fedvg
