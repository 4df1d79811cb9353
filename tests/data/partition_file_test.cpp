#include "data/partition_file.h"

#include <nlohmann/json.hpp>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

const DataIdentity identity = {"fashion-mnist", 6, "0123456789abcdef"};

class PartitionFile : public ::testing::Test {
 protected:
  Partition read(const std::string& content, bool overlap = false) const {
    return read_partition_file(folder_.write("p.json", content), identity, overlap);
  }
  // The message, without the path at its start.
  std::string refusal(const std::string& content) const {
    const auto message = message_of<DataError>([&] { read(content); });
    const auto path = (folder_.path() / "p.json").string();
    EXPECT_TRUE(message.starts_with(path)) << message;
    return message.substr(std::min(path.size(), message.size()));
  }

  TemporaryFolder folder_;
};

TEST_F(PartitionFile, IsAListOfLists) {
  const auto partition = read("[[5, 0], [1]]");
  EXPECT_EQ(partition.clients, (std::vector<IndexList>{{5, 0}, {1}}));
  EXPECT_FALSE(partition.validation.has_value());
}

TEST_F(PartitionFile, IsAnObjectWithValidation) {
  const auto partition = read(R"({"validation": [4, 3], "clients": [[5, 0], [1]]})");
  EXPECT_EQ(partition.clients, (std::vector<IndexList>{{5, 0}, {1}}));
  EXPECT_EQ(partition.validation, (IndexList{4, 3}));
}

TEST_F(PartitionFile, ReadsBackWhatIsWritten) {
  const std::string text = partition_file_text({{5, 0}, {}, {1}}, {4, 3}, {{1, 1}, {0, 0}, {1, 0}},
                                               "file, file = \"a \\ \"b\"\"", identity);
  const auto partition = read(text);
  EXPECT_EQ(partition.clients, (std::vector<IndexList>{{5, 0}, {}, {1}}));
  EXPECT_EQ(partition.validation, (IndexList{4, 3}));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["counts"], (std::vector<std::vector<int>>{{1, 1}, {0, 0}, {1, 0}}));
  EXPECT_EQ(json["source"], "file, file = \"a \\ \"b\"\"");
  EXPECT_EQ(json["data"]["name"], "fashion-mnist");
  EXPECT_EQ(json["data"]["samples"], 6);
  EXPECT_EQ(json["data"]["fingerprint"], "0123456789abcdef");
}

TEST_F(PartitionFile, HasATestSetInPooledRuns) {
  const auto without = read(R"({"clients": [[5, 0]]})");
  EXPECT_FALSE(without.test.has_value());
  const std::string official =
      partition_file_text({{5, 0}}, {4, 3}, {{1, 1}}, "dirichlet", identity);
  EXPECT_FALSE(nlohmann::json::parse(official).contains("test"));
  const auto partition =
      read(partition_file_text({{5, 0}}, {4, 3}, {{1, 1}}, "dirichlet", identity, IndexList{2, 1}));
  EXPECT_EQ(partition.test, (IndexList{2, 1}));
  EXPECT_EQ(partition.validation, (IndexList{4, 3}));
  EXPECT_EQ(refusal(R"({"clients": [[0], [1]], "test": [1]})"),
            ": client 1, position 0: sample 1 is in test: no client may train on it");
  EXPECT_EQ(refusal(R"({"clients": [[0]], "test": [6]})"),
            ": test, position 0: sample 6 does not exist: there are 6, counted from 0");
}

TEST_F(PartitionFile, RefusesOtherKeys) {
  EXPECT_EQ(refusal(R"({"clients": [[0]], "client": [[0]]})"),
            ": unknown key 'client'; did you mean 'clients'? known: clients, counts, data, source, "
            "test, validation");
  EXPECT_EQ(refusal(R"({"validation": [0]})"),
            " has no \"clients\", the list of the clients' lists of samples");
}

// A fingerprint that is misspelt would not be looked at, and one given twice counts once.
TEST_F(PartitionFile, RefusesOtherKeysOfTheData) {
  EXPECT_EQ(refusal(R"({"clients": [[0]], "data": {"fingerprnt": "00"}})"),
            ": unknown key 'fingerprnt' in \"data\"; did you mean 'fingerprint'? known: "
            "fingerprint, name, samples");
  EXPECT_EQ(refusal(R"({"clients": [[0]], "data": {"name": "x", "name": "fashion-mnist"}})"),
            ": the key \"name\" is given twice");
  EXPECT_EQ(refusal(R"({"clients": [[0]], "clients": [[1]]})"),
            ": the key \"clients\" is given twice");
}

TEST_F(PartitionFile, RefusesWhatIsNoPartition) {
  EXPECT_EQ(refusal("3"),
            " must be a list of clients' lists or an object with \"clients\", but is number");
  EXPECT_EQ(refusal("[]"), " has no clients");
  EXPECT_EQ(refusal("[0, 1]"), ": client 0 must be a list of samples, but is number");
  EXPECT_EQ(refusal(R"({"clients": [[0]], "validation": 1})"),
            ": validation must be a list of samples, but is number");
}

TEST_F(PartitionFile, RefusesIndexesThatDoNotFit) {
  EXPECT_EQ(refusal("[[0], [1, 6]]"),
            ": client 1, position 1: sample 6 does not exist: there are 6, counted from 0");
  EXPECT_EQ(refusal("[[0, 0]]"), ": client 0, position 1: sample 0 is already in this list");
  EXPECT_EQ(refusal(R"({"clients": [[0], [1]], "validation": [1]})"),
            ": client 1, position 0: sample 1 is in validation: no client may train on it");
}

TEST_F(PartitionFile, RefusesOtherData) {
  const auto other = refusal(
      R"({"clients": [[0]], "data": {"name": "mnist", "samples": 6, "fingerprint": "fe"}})");
  EXPECT_TRUE(
      other.starts_with(" was written for other data: \"mnist\" with 6 training samples, "
                        "fingerprint fe; this is \"fashion-mnist\" with 6 training "
                        "samples, fingerprint 0123456789abcdef."))
      << other;
  EXPECT_NE(refusal(R"({"clients": [[0]], "data": {"samples": 7}})").find("with 7"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"clients": [[0]], "data": {"name": "mnist"}})").find("\"mnist\""),
            std::string::npos);
  for (const char* number : {"\"six\"", "6.0", "1e300", "-6", "18446744073709551615", "null"}) {
    const auto reason =
        refusal(R"({"clients": [[0]], "data": {"samples": )" + std::string(number) + "}}");
    EXPECT_NE(reason.find("must have"), std::string::npos) << reason;
  }
  EXPECT_NE(refusal(R"({"clients": [[0]], "data": {"name": 6}})").find("must have"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"clients": [[0]], "data": {"name": "a\n"}})").find(R"("a\x0a")"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"clients": [[0]], "data": 6})").find("must be an object"),
            std::string::npos);
}

// The same files read as another format have another name.
TEST_F(PartitionFile, TrustsAFingerprintMoreThanAName) {
  EXPECT_NO_THROW(read(R"({"clients": [[0]], "data": {"name": "idx", "samples": 6,
                           "fingerprint": "0123456789abcdef"}})"));
}

}  // namespace
}  // namespace fedvg
