#pragma once

#include <cstdint>
#include <string>

#include "fedvg/options.h"

namespace fedvg {

/// [data]
struct DataOptions {
  Part name{"fashion-mnist", {}};
  std::int64_t take = 0;
  std::string normalize = "none";

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("name", &DataOptions::name, PartBeside{"data"}, "data set, or format of one's own");
    visit("take", &DataOptions::take, at_least(0),
          "keep only the first so many training samples, in file order; 0: all");
    visit("normalize", &DataOptions::normalize, OneOf{{"none", "dataset"}},
          "none: bytes / 255; dataset: then standardised by mean and deviation of the training "
          "set, channel by channel");
  }
};

/// [partition]
struct PartitionOptions {
  Part scheme{"dirichlet", {}};
  std::int64_t clients = 100;
  std::int64_t min_samples = 10;
  std::string on_short = "repair";
  bool overlap = false;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("scheme", &PartitionOptions::scheme, PartBeside{"partition"},
          "how the training samples are divided among the clients");
    visit("clients", &PartitionOptions::clients, between(1, 10'000'000),
          "number of clients; a partition file has its own, which must agree");
    visit("min_samples", &PartitionOptions::min_samples, at_least(0),
          "samples that every client of a drawn partition gets at least");
    visit("on_short", &PartitionOptions::on_short, OneOf{{"repair", "refuse"}},
          "when 20 draws leave a client below min_samples: move samples to it from the largest "
          "clients, or refuse");
    visit("overlap", &PartitionOptions::overlap,
          "the clients of a partition file may share samples");
  }
};

/// [validation]
struct ValidationOptions {
  std::string source = "holdout";
  double ratio = 0.1;
  std::int64_t size = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("source", &ValidationOptions::source, OneOf{{"holdout", "none"}},
          "the server's validation set D_val: a stratified part of the training set, held out "
          "before it is partitioned (a partition file may bring its own), or none");
    visit("ratio", &ValidationOptions::ratio,
          Bounds{.low = 0, .high = 1, .low_open = true, .high_open = true},
          "share of the training set that is held out");
    visit("size", &ValidationOptions::size, at_least(0),
          "use a stratified subset of so many samples of it, the rest stays unused; 0: all");
  }
};

}  // namespace fedvg
