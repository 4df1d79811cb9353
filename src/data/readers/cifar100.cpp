// CIFAR-100 (Krizhevsky, 2009): 50,000 + 10,000 images of 32 x 32 pixels in 100 classes of 20
// groups, in the official binary version.

#include <string>

#include "data/cifar.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct Cifar100Options {
  std::string path;
  std::string labels = "fine";

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("path", &Cifar100Options::path, FilePath{},
          "folder of train.bin and test.bin, as cifar-100-binary.tar.gz holds them");
    visit("labels", &Cifar100Options::labels, OneOf{{"fine", "coarse"}},
          "classes: 100 fine ones, or the 20 coarse ones that group them");
  }
};

class Cifar100 final : public DatasetReader {
 public:
  explicit Cifar100(const Cifar100Options& options) : options_(options) {
    if (options.path.empty()) {
      throw OptionError(
          "data.name = \"cifar100\" needs data.path, the folder of train.bin and test.bin of the "
          "binary version");
    }
  }

 private:
  Dataset load(const ReadRequest&) const override {
    const auto labels = options_.labels == "fine" ? CifarLabels::fine : CifarLabels::coarse;
    Dataset dataset = read_cifar_folder(options_.path, CifarLayout::cifar100, labels);
    dataset.name = "cifar100";
    return dataset;
  }

  Cifar100Options options_;
};

FEDVG_REGISTER(DatasetReader, "cifar100", Cifar100, Cifar100Options,
               "CIFAR-100: 50,000 + 10,000 RGB images, 32 x 32, 100 classes");

}  // namespace
}  // namespace fedvg
