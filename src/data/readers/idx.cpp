// Any MNIST-like set: four IDX files in a folder (MNIST, KMNIST, EMNIST, one's own).

#include <string>

#include "data/class_counts.h"
#include "data/idx_folder.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct IdxOptions {
  std::string path;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("path", &IdxOptions::path, FilePath{},
          "folder of *train-images-idx3-ubyte[.gz], *train-labels-idx1-ubyte[.gz] and the "
          "same of t10k or test");
  }
};

class IdxReader final : public DatasetReader {
 public:
  explicit IdxReader(const IdxOptions& options) : options_(options) {
    if (options.path.empty()) {
      throw OptionError("data.name = \"idx\" needs data.path, the folder of the four IDX files");
    }
  }

 private:
  // Classes are 0 to the largest label of the training set.
  Dataset load(const ReadRequest&) const override {
    Dataset dataset = read_idx_folder(options_.path);
    dataset.name = "idx";
    dataset.classes = numbered_classes(dataset.training.labels);
    return dataset;
  }

  IdxOptions options_;
};

FEDVG_REGISTER(DatasetReader, "idx", IdxReader, IdxOptions,
               "MNIST-like set in IDX files: gray images, classes from the training labels");

}  // namespace
}  // namespace fedvg
