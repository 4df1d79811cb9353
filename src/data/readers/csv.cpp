// Rows of features with a label, as spreadsheets and statistics programs write them.

#include <string>
#include <vector>

#include "data/csv_set.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct CsvOptions {
  std::string path;
  std::string test;
  std::string label = "label";
  std::vector<std::string> ignore;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("path", &CsvOptions::path, FilePath{},
          "CSV file of the training samples, the first line naming the columns");
    visit("test", &CsvOptions::test, FilePath{},
          "CSV file of the test samples; empty: a part is held out (data.test_ratio)");
    visit("label", &CsvOptions::label,
          "column of the class, number or text; all others hold numbers, but partition.column");
    visit("ignore", &CsvOptions::ignore, "columns that are no features");
  }
};

class Csv final : public DatasetReader {
 public:
  explicit Csv(const CsvOptions& options) : options_(options) {
    if (options.path.empty()) {
      throw OptionError("data.name = \"csv\" needs data.path, the CSV file");
    }
  }

 private:
  Dataset load(const ReadRequest& request) const override {
    Dataset dataset = read_csv_set({.training = options_.path,
                                    .test = options_.test,
                                    .label = options_.label,
                                    .ignored = options_.ignore},
                                   request);
    dataset.name = "csv";
    return dataset;
  }

  CsvOptions options_;
};

FEDVG_REGISTER(DatasetReader, "csv", Csv, CsvOptions, "rows of features with a label");

}  // namespace
}  // namespace fedvg
