#include "data/class_mapping.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

const std::vector<std::string> kOwn = {"airplane", "automobile", "cat"};
const std::vector<std::string> kForeign = {"bus", "lion", "motorcycle", "otter", "cat"};

class ClassMappingFile : public ::testing::Test {
 protected:
  ClassMapping read(const std::string& content) {
    return read_class_mapping(folder_.write("mapping.csv", content), kOwn, kForeign);
  }
  // Without the folder's name.
  std::string refusal(const std::string& content) {
    const auto message = message_of<DataError>([&] { read(content); });
    const auto at = message.find("mapping.csv");
    return at == std::string::npos ? message : message.substr(at);
  }

  TemporaryFolder folder_;
};

TEST_F(ClassMappingFile, GivesForeignClassesOwnOnesByName) {
  EXPECT_EQ(read("own,foreign\nautomobile,bus\nautomobile,motorcycle\ncat,lion\n"),
            (ClassMapping{1, 2, 1, -1, -1}));
}

TEST_F(ClassMappingFile, TakesWhatSpreadsheetsWrite) {
  EXPECT_EQ(read("\xEF\xBB\xBFown,foreign\r\n\"automobile\", bus\r\n\r\ncat,\"lion\""),
            (ClassMapping{1, 2, -1, -1, -1}));
  // An empty name: the other has no counterpart.
  EXPECT_EQ(read("own,foreign\nairplane,\n,otter\ncat,lion\n"), (ClassMapping{-1, 2, -1, -1, -1}));
  const std::vector<std::string> commas = {"cat, tame", "\"quoted\""};
  EXPECT_EQ(
      read_class_mapping(folder_.write("m.csv", "a,b\n\"cat, tame\",x\n\"\"\"quoted\"\"\",y\n"),
                         commas, {"x", "y"}),
      (ClassMapping{0, 1}));
}

TEST_F(ClassMappingFile, RefusesNamesThatNeitherSetHas) {
  EXPECT_EQ(refusal("own,foreign\ncat,lion\nautomobil,bus\n"),
            "mapping.csv:3: unknown class of the data set 'automobil'; did you mean 'automobile'? "
            "known: airplane, automobile, cat");
  EXPECT_EQ(refusal("own,foreign\nautomobile,buss\n"),
            "mapping.csv:2: unknown class of the validation set 'buss'; did you mean 'bus'? "
            "known: bus, cat, lion, motorcycle, otter");
}

TEST_F(ClassMappingFile, RefusesWhatIsNoMapping) {
  const std::string form =
      "; a mapping has a header, then in each line a class of the data set and one of the "
      "validation set, by name";
  EXPECT_EQ(refusal("automobile,bus\ncat,lion\n"),
            "mapping.csv:1: names classes, but the first line must be a header" + form);
  EXPECT_EQ(refusal("own,foreign\ncat,lion,tiger\n"),
            "mapping.csv:2: has 3 columns, wanted two" + form);
  EXPECT_EQ(refusal("own;foreign\n"), "mapping.csv:1: has 1 columns, wanted two" + form);
  for (const char* nothing : {"", "own,foreign\n", "own,foreign\ncat,\n"}) {
    EXPECT_EQ(refusal(nothing),
              "mapping.csv: gives no foreign class a class of the data set" + form);
  }
  EXPECT_EQ(refusal("own,foreign\ncat,lion\nautomobile,lion\n"),
            "mapping.csv:3: gives 'lion' a second class, 'automobile' beside 'cat'");
  const auto absent = (folder_.path() / "absent.csv").string();
  EXPECT_EQ(message_of<DataError>([&] { read_class_mapping(absent, kOwn, kForeign); }),
            absent + ": cannot be read (validation.mapping)");
  const auto folder = folder_.path().string();
  EXPECT_EQ(message_of<DataError>([&] { read_class_mapping(folder, kOwn, kForeign); }),
            folder + ": not a file (validation.mapping)");
}

TEST(ClassMapping, WithoutAFileTakesEqualNames) {
  EXPECT_EQ(classes_of_equal_names(kOwn, kForeign, "x"), (ClassMapping{-1, -1, -1, -1, 2}));
  EXPECT_EQ(message_of<DataError>([&] {
              classes_of_equal_names({"0", "1"}, kForeign, "a.bin");
            }),
            "a.bin: none of its classes (bus, lion, motorcycle, otter, cat) has the name of a "
            "class of the data set (0, 1): name a CSV with validation.mapping that says which "
            "belong together");
}

// Classes of the five images: otter, bus, cat, otter, lion; otter and lion have none here.
TEST(ClassMapping, DropsAndCountsWhatHasNoCounterpart) {
  const Samples foreign{.channels = 1,
                        .height = 1,
                        .width = 2,
                        .pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                        .labels = {3, 0, 4, 3, 1},
                        .owners = {},
                        .is_features = false};
  const ClassMapping mapping = {1, -1, 1, -1, 2};
  const Samples mapped = mapped_samples(foreign, mapping);
  EXPECT_EQ(mapped.labels, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(mapped.pixels, (std::vector<std::uint8_t>{3, 4, 5, 6}));
  EXPECT_EQ(mapped.width, 2);
  EXPECT_EQ(dropped_samples(foreign, mapping, kForeign),
            "3 of 5 samples dropped: 2 classes have no counterpart (otter, lion)");
  EXPECT_EQ(dropped_samples(foreign, {1, 1, 1, 1, 1}, kForeign), "");
}

// Table A.6 of the paper; FEDVG_SHARED names a folder with the set.
TEST(ClassMapping, ReadsTheMappingOfThePaper) {
  const char* shared = std::getenv("FEDVG_SHARED");
  if (!shared) GTEST_SKIP() << "FEDVG_SHARED is not set";
  const std::string folder = std::string(shared) + "/data/cifar-100-external/";
  std::ifstream names(folder + "fine_label_names.txt");
  const std::vector<std::string> fine{std::istream_iterator<std::string>(names), {}};
  ASSERT_EQ(fine.size(), 100u);
  const std::vector<std::string> own = {"airplane", "automobile", "bird",  "cat",  "deer",
                                        "dog",      "frog",       "horse", "ship", "truck"};
  const auto mapping = read_class_mapping(folder + "mapping.csv", own, fine);
  const auto own_of = [&](const std::string& name) {
    return mapping[static_cast<std::size_t>(std::ranges::find(fine, name) - fine.begin())];
  };
  EXPECT_EQ(own_of("bus"), 1);
  EXPECT_EQ(own_of("tiger"), 3);
  EXPECT_EQ(own_of("wolf"), 5);
  EXPECT_EQ(std::ranges::count(mapping, -1), 93);
}

}  // namespace
}  // namespace fedvg
