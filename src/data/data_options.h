#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedvg/options.h"

namespace fedvg {

/// [data]
struct DataOptions {
  Part name{"fashion-mnist", {}};
  std::int64_t take = 0;
  std::string split = "official";
  double val_ratio = 0.1;
  double test_ratio = 0.25;
  std::int64_t resize = 0;
  Part normalize{"none", {}};
  std::vector<std::string> augment;
  std::int64_t augment_padding = 4;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("name", &DataOptions::name, PartBeside{"data"}, "data set, or format of one's own");
    visit("take", &DataOptions::take, at_least(0),
          "keep only the first so many training samples, in file order; 0: all");
    const Bounds part{.low = 0, .high = 1, .low_open = true, .high_open = true};
    visit("split", &DataOptions::split, OneOf{{"official", "pooled"}},
          "official: clients share the training set, the test set tests; pooled: they share both, "
          "then each gives a part of its samples to the server's D_val and test set");
    visit("val_ratio", &DataOptions::val_ratio, part,
          "pooled: share of its samples that a client gives to D_val, in place of "
          "validation.ratio");
    visit("test_ratio", &DataOptions::test_ratio, part,
          "pooled: share of its samples that a client gives to the test set; also the share held "
          "out of data that come without a test set");
    visit("resize", &DataOptions::resize, between(0, 4096),
          "bring all images to so many pixels in height and width, with antialiasing; 0: as they "
          "are");
    visit("normalize", &DataOptions::normalize, PartOf{"normalization"},
          "what is done to images (bytes / 255) or features before a model sees them");
    visit("augment", &DataOptions::augment, OneOf{{"flip", "crop"}},
          "in local training only, for each image anew. flip: mirrored left to right with "
          "probability 1/2; crop: cut out at random of the image within a black frame");
    visit("augment_padding", &DataOptions::augment_padding, at_least(1),
          "crop: pixels of the frame");
  }
};

/// [partition]
struct PartitionOptions {
  Part scheme{"dirichlet", {}};
  std::int64_t clients = 100;
  std::int64_t min_samples = 10;
  std::string on_short = "repair";
  bool overlap = false;
  std::int64_t balanced = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("scheme", &PartitionOptions::scheme, PartBeside{"partition"},
          "how the training samples are divided among the clients");
    visit(
        "clients", &PartitionOptions::clients, between(1, 10'000'000),
        "number of clients; a partition file and scheme natural have their own, which must agree");
    visit("min_samples", &PartitionOptions::min_samples, at_least(0),
          "samples that every client of a drawn partition gets at least");
    visit("on_short", &PartitionOptions::on_short, OneOf{{"repair", "refuse"}},
          "when 20 draws leave a client below min_samples: move samples to it from the largest "
          "clients, or refuse");
    visit("overlap", &PartitionOptions::overlap,
          "the clients of a partition file may share samples");
    visit("balanced", &PartitionOptions::balanced, at_least(0),
          "so many clients first get equal shares of every class, the scheme divides the rest "
          "among the others; drawn partitions only");
  }
};

/// [validation]. In this order: source, imbalance, size, noise.
struct ValidationOptions {
  std::string source = "holdout";
  double ratio = 0.1;
  std::int64_t size = 0;
  double imbalance = 0;
  double noise = 0;
  std::string path = "";
  std::string format = "auto";
  std::string mapping = "";

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("source", &ValidationOptions::source, OneOf{{"holdout", "official", "file", "none"}},
          "the server's validation set D_val. holdout: a stratified part of the training set, "
          "held out before it is partitioned (a partition file may bring its own); official: the "
          "data set's own validation part; file: another data set; none");
    visit("ratio", &ValidationOptions::ratio,
          Bounds{.low = 0, .high = 1, .low_open = true, .high_open = true},
          "holdout: share of the training set that is held out");
    visit("size", &ValidationOptions::size, at_least(0),
          "use a stratified subset of so many samples of it (after imbalance), the rest stays "
          "unused; 0: all");
    visit("imbalance", &ValidationOptions::imbalance, between(0, 1),
          "rho: of class i use only floor(rho^i / sum_j rho^j * D_val / 2) samples, at most what "
          "there are; 1: a balanced half; 0: off");
    visit("noise", &ValidationOptions::noise, at_least(0),
          "standard deviation of Gaussian noise that is added last to the images of D_val, in "
          "units of [0, 1] in which they are clamped; to features in their own units, without "
          "clamping");
    visit("path", &ValidationOptions::path, FilePath{},
          "file: the other data set; images are resized to the training size");
    visit("format", &ValidationOptions::format,
          "file: its format, a name of data.name; auto: found by content");
    visit("mapping", &ValidationOptions::mapping, FilePath{},
          "file: CSV with a header, then own class and foreign class in each line, by name; "
          "foreign classes without a line are dropped. Without it classes of equal names belong "
          "together");
  }
};

}  // namespace fedvg
