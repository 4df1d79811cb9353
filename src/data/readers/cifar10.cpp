// CIFAR-10 (Krizhevsky, 2009): 50,000 + 10,000 images of 32 x 32 pixels in 10 classes, in the
// official binary version.

#include <string>

#include "data/cifar.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct Cifar10Options {
  std::string path;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("path", &Cifar10Options::path, FilePath{},
          "folder of data_batch_1.bin to data_batch_5.bin and test_batch.bin, as "
          "cifar-10-binary.tar.gz holds them");
  }
};

class Cifar10 final : public DatasetReader {
 public:
  explicit Cifar10(const Cifar10Options& options) : options_(options) {
    if (options.path.empty()) {
      throw OptionError(
          "data.name = \"cifar10\" needs data.path, the folder of data_batch_1.bin and the other "
          "files of the binary version");
    }
  }

 private:
  Dataset load(const ReadRequest&) const override {
    Dataset dataset = read_cifar_folder(options_.path, CifarLayout::cifar10);
    dataset.name = "cifar10";
    return dataset;
  }

  Cifar10Options options_;
};

FEDVG_REGISTER(DatasetReader, "cifar10", Cifar10, Cifar10Options,
               "CIFAR-10: 50,000 + 10,000 RGB images, 32 x 32, 10 classes");

}  // namespace
}  // namespace fedvg
