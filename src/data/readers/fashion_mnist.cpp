// Fashion-MNIST (Xiao et al., 2017, arXiv 1708.07747): 60,000 + 10,000 gray images of 28 x 28
// pixels in 10 classes, as Debian's package dataset-fashion-mnist ships it.

#include <filesystem>
#include <string>
#include <system_error>

#include "data/idx_folder.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

constexpr const char* debian_folder = "/usr/share/datasets/fashion-mnist";

struct FashionMnistOptions {
  std::string path;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("path", &FashionMnistOptions::path, FilePath{},
          "folder of the four *-ubyte[.gz] files; empty: where Debian's package "
          "dataset-fashion-mnist puts them");
  }
};

class FashionMnist final : public DatasetReader {
 public:
  explicit FashionMnist(const FashionMnistOptions& options) : options_(options) {}

 private:
  Dataset load(const ReadRequest&) const override {
    std::error_code ignored;
    if (options_.path.empty() && !std::filesystem::exists(debian_folder, ignored)) {
      throw DataError(std::string(debian_folder) +
                      " does not exist: apt-get install dataset-fashion-mnist, or give the "
                      "folder of the four files as data.path");
    }
    Dataset dataset = read_idx_folder(options_.path.empty() ? debian_folder : options_.path);
    dataset.name = "fashion-mnist";
    dataset.classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                       "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
    return dataset;
  }

  FashionMnistOptions options_;
};

FEDVG_REGISTER(DatasetReader, "fashion-mnist", FashionMnist, FashionMnistOptions,
               "Fashion-MNIST: 60,000 + 10,000 gray images, 28 x 28, 10 classes");

}  // namespace
}  // namespace fedvg
