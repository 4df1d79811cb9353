#include "data/test_holdout.h"

#include <cmath>
#include <cstdint>

#include "data/choice.h"
#include "data/stratify.h"
#include "fedvg/error.h"
#include "fedvg/random.h"
#include "fedvg/value.h"

namespace fedvg {

namespace {

constexpr const char* note_start = "test set: ";

}  // namespace

IndexList drawn_test(const IndexList& pool, std::span<const std::int64_t> labels,
                     std::int64_t classes, const ReadRequest& request) {
  const std::int64_t total = std::llround(request.test_ratio * static_cast<double>(pool.size()));
  Random random(request.seed, "test");
  return stratified_subset(pool, labels, classes, total, random);
}

void hold_out_test(Dataset& dataset, const ReadRequest& request) {
  const Samples& all = dataset.training;
  const IndexList test =
      drawn_test(all_positions(all.size()), all.labels, std::ssize(dataset.classes), request);
  const std::string samples = std::to_string(all.size()) + " samples";
  if (test.empty() || std::ssize(test) == all.size()) {
    throw DataError(dataset.source +
                    " has no test set, and data.test_ratio = " + Value(request.test_ratio).text() +
                    " of its " + samples + " is " + (test.empty() ? "none" : "all of them") +
                    ": give a test set, or change data.test_ratio");
  }
  dataset.test = chosen_samples(all, test);
  dataset.training = chosen_samples(all, all_but(all.size(), test));
  dataset.notes.push_back(holdout_note(std::ssize(test), samples, request) + dataset.source +
                          " comes without one");
}

std::string holdout_note(std::int64_t count, const std::string& all, const ReadRequest& request) {
  return note_start + std::to_string(count) + " of the " + all +
         " held out, stratified by class (data.test_ratio = " + Value(request.test_ratio).text() +
         "), since ";
}

void remove_holdout_note(std::vector<std::string>& notes) {
  std::erase_if(notes, [](const std::string& note) { return note.starts_with(note_start); });
}

}  // namespace fedvg
