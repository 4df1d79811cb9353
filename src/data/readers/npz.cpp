// Features or images with labels in an npz file of one's own.

#include <string>

#include "data/npz_set.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct NpzOptions {
  std::string path;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("path", &NpzOptions::path, FilePath{},
          "npz file with x_train, y_train, x_test, y_test and optionally x_val, y_val, or with x "
          "and y, of which a test set is held out (data.test_ratio); partition.column: an array "
          "of the training samples' owners");
  }
};

class Npz final : public DatasetReader {
 public:
  explicit Npz(const NpzOptions& options) : options_(options) {
    if (options.path.empty()) {
      throw OptionError("data.name = \"npz\" needs data.path, the npz file");
    }
  }

 private:
  Dataset load(const ReadRequest& request) const override {
    Dataset dataset = read_npz_set(options_.path, request);
    dataset.name = "npz";
    return dataset;
  }

  NpzOptions options_;
};

FEDVG_REGISTER(DatasetReader, "npz", Npz, NpzOptions,
               "NumPy arrays: features or images with class numbers");

}  // namespace
}  // namespace fedvg
