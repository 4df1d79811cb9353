// MedMNIST (Yang et al., 2023, Scientific Data 10:41) and whatever has its layout.

#include <string>

#include "data/npz_set.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct MedMnistOptions {
  std::string path;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("path", &MedMnistOptions::path, FilePath{},
          "npz file with {train,val,test}_images and _labels; one of MedMNIST's names, as "
          "dermamnist.npz or dermamnist_64.npz, brings the names of the classes");
  }
};

class MedMnist final : public DatasetReader {
 public:
  explicit MedMnist(const MedMnistOptions& options) : options_(options) {
    if (options.path.empty()) {
      throw OptionError("data.name = \"medmnist\" needs data.path, the npz file");
    }
  }

 private:
  Dataset load(const ReadRequest&) const override {
    Dataset dataset = read_medmnist(options_.path);
    dataset.name = "medmnist";
    return dataset;
  }

  MedMnistOptions options_;
};

FEDVG_REGISTER(DatasetReader, "medmnist", MedMnist, MedMnistOptions,
               "MedMNIST's 2D sets, or an npz file of that layout");

}  // namespace
}  // namespace fedvg
