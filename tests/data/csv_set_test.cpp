#include "data/csv_set.h"

#include <string>
#include <vector>

#include "data/arrays_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::message_of;
using testing::TemporaryFolder;
using Labels = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

// The set of a training and a test file with these contents.
Dataset csv_set(const std::string& training, const std::string& test = "",
                const ReadRequest& request = {}, CsvFiles files = {}) {
  const TemporaryFolder folder;
  files.training = folder.write("train.csv", training);
  if (!test.empty()) files.test = folder.write("test.csv", test);
  return read_csv_set(files, request);
}

std::string refusal(const std::string& training, const std::string& test = "label,x\n1,2\n") {
  return message_of<DataError>([&] { csv_set(training, test); });
}

TEST(CsvSet, ReadsFeaturesAndLabels) {
  const Dataset dataset = csv_set("x,label,y\n1,cat,-2.5\n+3e1,ape,4\n", "y,label,x\n6,cat,5\n");
  EXPECT_TRUE(dataset.training.is_features);
  EXPECT_EQ(dataset.training.channels, 2);
  EXPECT_EQ(dataset.training.pixels, bytes_of<float>({1, -2.5f, 30, 4}));
  EXPECT_EQ(dataset.classes, (Names{"ape", "cat"}));
  EXPECT_EQ(dataset.training.labels, (Labels{1, 0}));
  EXPECT_EQ(dataset.test.pixels, bytes_of<float>({5, 6}));
  EXPECT_EQ(dataset.test.labels, (Labels{1}));
  EXPECT_TRUE(dataset.training.owners.empty());
}

TEST(CsvSet, SortsLabelsThatAreNumbersByValue) {
  const Dataset dataset = csv_set("label,x\n10,0\n9,0\n-1,0\n9.0,0\n", "label,x\n+10,0\n");
  EXPECT_EQ(dataset.classes, (Names{"-1", "9", "10"}));
  EXPECT_EQ(dataset.training.labels, (Labels{2, 1, 0, 1}));
  EXPECT_EQ(dataset.test.labels, (Labels{2}));
  EXPECT_EQ(csv_set("label,x\n10,0\n9,0\nnone,0\n", "label,x\n9,0\n").classes,
            (Names{"10", "9", "none"}));
}

TEST(CsvSet, ReadsQuotesMarksAndOtherLineEnds) {
  const Dataset dataset = csv_set("\xef\xbb\xbf\"the class\",x\r\n\"a, b\",\"1\"\r\n\r\n",
                                  "x,\"the class\"\r\n2,\"a, b\"", {}, {.label = "the class"});
  EXPECT_EQ(dataset.classes, (Names{"a, b"}));
  EXPECT_EQ(dataset.training.pixels, bytes_of<float>({1}));
}

TEST(CsvSet, KeepsTheGivenOwnersAsTheyAre) {
  const std::string training = "site,x,label\nB,1,0\nA,2,1\nB,3,1\n";
  const Dataset dataset = csv_set(training, "label,x\n0,9\n", {.owner_column = "site"});
  EXPECT_EQ(dataset.training.owners, (Names{"B", "A", "B"}));
  EXPECT_EQ(dataset.training.pixels, bytes_of<float>({1, 2, 3}));
  EXPECT_TRUE(dataset.test.owners.empty());
  EXPECT_EQ(csv_set(training, "site,label,x\nC,0,9\n", {.owner_column = "site"}).test.owners,
            (Names{"C"}));
}

TEST(CsvSet, LeavesIgnoredColumnsOut) {
  const Dataset dataset =
      csv_set("id,x,label\nk7,1,0\nk8,2,1\n", "id,x,label\nk9,3,0\n", {}, {.ignored = {"id"}});
  EXPECT_EQ(dataset.training.channels, 1);
  EXPECT_EQ(dataset.training.pixels, bytes_of<float>({1, 2}));
  EXPECT_EQ(dataset.test.pixels, bytes_of<float>({3}));
}

TEST(CsvSet, HoldsATestSetOut) {
  const Dataset dataset = csv_set("who,label,x\na,0,0\nb,0,1\na,1,2\nb,1,3\n", "",
                                  {.owner_column = "who", .test_ratio = 0.5});
  EXPECT_EQ(dataset.training.size(), 2);
  EXPECT_EQ(dataset.test.labels, (Labels{0, 1}));
  EXPECT_EQ(dataset.training.owners.size(), 2u);
  ASSERT_EQ(dataset.notes.size(), 1u);
  expect_contains(dataset.notes[0], "2 of the 4 samples held out");
}

TEST(CsvSet, NamesLineAndColumnOfAFault) {
  expect_contains(refusal("label,x\n1,2\n\n0,abc\n"), "train.csv line 4, column \"x\": \"abc\" is");
  expect_contains(refusal("label,x\n1,\n"), "line 2, column \"x\": empty");
  expect_contains(refusal("label,x\n1,nan\n"), "\"nan\" is not a finite");
  expect_contains(refusal("label,x\n1,-inf\n"), "\"-inf\" is not a finite");
  expect_contains(refusal("label,x\n1,1e99\n"), "\"1e99\" is not a finite");
  expect_contains(refusal("label,x\n1,1e999\n"), "\"1e999\" is not a finite");
  expect_contains(refusal("label,x\n,1\n"), "line 2, column \"label\": empty");
  expect_contains(refusal("label,x\n1,2,3\n"), "line 2 has 3 fields, but the first line names 2");
  expect_contains(refusal("label,x\n1,2\n", "label,x\n1,2\n7,2\n"),
                  "test.csv line 3, column \"label\": ");
  expect_contains(refusal("label,x\n1,2\n", "label,x\nape,2\n"), "has no class \"ape\"; it has 1");
}

TEST(CsvSet, TakesATinyNumberAsZero) {
  EXPECT_EQ(csv_set("label,x\n1,1e-999\n", "label,x\n1,2\n").training.pixels, bytes_of<float>({0}));
}

TEST(CsvSet, RefusesAnotherHeader) {
  expect_contains(refusal("1,2\n3,4\n"), "the first line names the columns");
  expect_contains(refusal("label;x\n1;2\n"), "separated by commas");
  expect_contains(refusal("label,x,x\n1,2,3\n"), "two columns are named \"x\"");
  expect_contains(refusal("label,,x\n1,2,3\n"), "column 2 has no name");
  expect_contains(refusal("label\n1\n"), "has no column of features");
  expect_contains(refusal("label,x\n"), "no samples");
  expect_contains(refusal("\n\n"), "only empty lines");
  expect_contains(refusal("label,x\n1,2\n", "label,y\n1,2\n"), "has no column \"x\"");
  expect_contains(refusal("label,x\n1,2\n", "label,x,y\n1,2,3\n"), "has the column \"y\"");
}

TEST(CsvSet, NamesTheSettingOfAColumnThatIsNotThere) {
  const std::string table = "class,x\n1,2\n";
  const auto message = [&](const ReadRequest& request, const CsvFiles& files) {
    return message_of<OptionError>([&] { csv_set(table, table, request, files); });
  };
  expect_contains(message({}, {}), "data.label: ");
  expect_contains(message({}, {}), "has no column \"label\"; it has class, x");
  expect_contains(message({.owner_column = "who"}, {.label = "class"}), "partition.column: ");
  expect_contains(message({.owner_column = "class"}, {.label = "class"}), "is the label's column");
  expect_contains(message({}, {.label = "class", .ignored = {"id"}}), "data.ignore: ");
  expect_contains(message({}, {.label = "class", .ignored = {"class"}}), "is needed as the column");
}

TEST(CsvSet, MayLackIgnoredColumnsWhenTold) {
  const std::string table = "label,id,x\n1,k,2\n";
  const Dataset dataset =
      csv_set(table, table, {}, {.ignored = {"who", "id"}, .may_lack_ignored = true});
  EXPECT_EQ(dataset.training.pixels, bytes_of<float>({2}));
}

TEST(CsvSet, SaysWhatItIsInstead) {
  const TemporaryFolder folder;
  const auto message = [](const std::string& path) {
    return message_of<DataError>([&] { read_csv_set({.training = path, .test = ""}, {}); });
  };
  expect_contains(message(folder.path() / "absent"), "does not exist");
  expect_contains(message(folder.path()), "not a regular file");
  expect_contains(message(folder.write("empty", Bytes{})), "is empty");
  expect_contains(message(folder.write("a.xlsx", Bytes{'P', 'K', 3, 4})), "is a zip archive");
  expect_contains(message(folder.write("a.html", std::string("<html>"))), "is a web page");
}

}  // namespace
}  // namespace fedvg
