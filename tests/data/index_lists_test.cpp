#include "data/index_lists.h"

#include <nlohmann/json.hpp>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;
using testing::TemporaryFolder;
using Json = nlohmann::json;

std::string refusal(const std::string& json, std::int64_t limit = 10) {
  return message_of<DataError>(
      [&] { index_list(Json::parse(json), limit, "p.json: client 3", "sample"); });
}

TEST(IndexLists, ReadsListsInTheirOrder) {
  EXPECT_EQ(index_lists(Json::parse("[[9, 0], [], [5]]"), 10, "p.json", "client", "sample"),
            (std::vector<IndexList>{{9, 0}, {}, {5}}));
}

TEST(IndexLists, NamesPositionAndValue) {
  EXPECT_EQ(refusal("[1, 10]"),
            "p.json: client 3, position 1: sample 10 does not exist: there are 10, counted from 0");
  EXPECT_EQ(refusal("[-1]"),
            "p.json: client 3, position 0: sample -1 does not exist: there are 10, counted from 0");
  EXPECT_EQ(refusal("[4, 2, 7, 2, 4]"),
            "p.json: client 3, position 3: sample 2 is already in this list");
  EXPECT_EQ(refusal("[0, 1.0]"), "p.json: client 3, position 1: 1.0 is not a whole number");
  EXPECT_EQ(refusal("[\"1\"]"), "p.json: client 3, position 0: \"1\" is not a whole number");
  EXPECT_EQ(refusal("[true]"), "p.json: client 3, position 0: true is not a whole number");
  EXPECT_EQ(refusal("[[1]]"), "p.json: client 3, position 0: [1] is not a whole number");
  EXPECT_EQ(refusal("5"), "p.json: client 3 must be a list of samples, but is number");
}

TEST(IndexLists, RefusesNumbersBeyondSixtyThreeBits) {
  EXPECT_NE(refusal("[18446744073709551615]").find("sample 18446744073709551615 does not exist"),
            std::string::npos);
  EXPECT_NE(refusal("[99999999999999999999999]").find("not a whole number"), std::string::npos);
}

TEST(IndexLists, RefusesWhatIsNoListOfLists) {
  EXPECT_EQ(message_of<DataError>(
                [] { index_lists(Json::parse("{}"), 10, "p.json", "client", "sample"); }),
            "p.json must hold a list of lists, one for each client, but has object");
  EXPECT_EQ(message_of<DataError>(
                [] { index_lists(Json::parse("[[1], 2]"), 10, "p.json", "client", "sample"); }),
            "p.json: client 1 must be a list of samples, but is number");
}

TEST(IndexLists, SaysWhereAFileIsNoJson) {
  const TemporaryFolder folder;
  const auto path = folder.write("p.json", std::string("[[0, 1],\n [2,,3]]"));
  const auto message = message_of<DataError>([&] { read_json(path); });
  EXPECT_TRUE(message.starts_with(path + " is not JSON: parse error at line 2, column 5"))
      << message;
  EXPECT_THROW(read_json((folder.path() / "absent").string()), DataError);
}

TEST(IndexLists, NamesTheFileWhateverIsWrongInIt) {
  const TemporaryFolder folder;
  const auto reason = [&](const std::string& content) {
    const auto path = folder.write("p.json", content);
    const auto message = message_of<DataError>([&] { read_json(path); });
    EXPECT_TRUE(message.starts_with(path)) << message;
    EXPECT_LT(message.size(), path.size() + 300);
    return message.substr(path.size());
  };
  EXPECT_EQ(reason("[1e400]"), " is not JSON: number overflow parsing '1e400'");
  EXPECT_NE(reason("[\"\xff\"]").find("ill-formed UTF-8 byte; last read: '\"\\xff"),
            std::string::npos);
  EXPECT_TRUE(reason("[\"" + std::string(5000, 'x')).starts_with(" is not JSON: parse error at"));
  const std::string deep(100'000, '[');
  for (const std::string& nested : {deep, deep + std::string(100'000, ']'), "{\"a\":" + deep}) {
    EXPECT_EQ(reason(nested), ": lists or objects nested deeper than 32 levels");
  }
  EXPECT_EQ(reason(R"({"a\n": 1, "a\n": 2})"), R"(: the key "a\x0a" is given twice)");
  EXPECT_NO_THROW(read_json(folder.write("p.json", std::string(32, '[') + std::string(32, ']'))));
}

TEST(IndexLists, ShortensTheValueOfAMessage) {
  EXPECT_LT(refusal("[\"" + std::string(5000, 'x') + "\"]").size(), 200U);
}

TEST(IndexLists, CountsOwnersFromWhereItIsTold) {
  EXPECT_EQ(message_of<DataError>(
                [] { index_lists(Json::parse("[[1], 2]"), 10, "c.json", "round", "client", 1); }),
            "c.json: round 2 must be a list of clients, but is number");
}

TEST(IndexLists, RefusesAKeyThatIsGivenTwice) {
  const TemporaryFolder folder;
  const auto path = folder.write("p.json", std::string(R"({"a": {"b": 1}, "c": [{"b": 2}]})"));
  EXPECT_NO_THROW(read_json(path));
  folder.write("p.json", std::string(R"({"a": 1, "c": {"a": 1, "b": 2, "a": 3}})"));
  EXPECT_EQ(message_of<DataError>([&] { read_json(path); }),
            path + ": the key \"a\" is given twice");
}

TEST(IndexLists, AcceptsDisjointLists) {
  EXPECT_NO_THROW(check_disjoint({{0, 3}, {}, {1}}, {2, 4}, {}, 5, false, "test"));
  EXPECT_NO_THROW(check_disjoint({{0, 3}, {3}}, {2}, {4, 1}, 5, true, "test"));
}

TEST(IndexLists, RefusesListsThatAreNotDisjoint) {
  const auto message = [](const std::vector<IndexList>& clients, const IndexList& validation,
                          bool overlap) {
    return message_of<DataError>(
        [&] { check_disjoint(clients, validation, {4}, 5, overlap, "test"); });
  };
  EXPECT_EQ(message({{0, 3}, {3}}, {}, false),
            "test: client 1, position 0: sample 3 already belongs to client 0; "
            "partition.overlap = true would allow that");
  for (const bool overlap : {false, true}) {
    EXPECT_EQ(message({{0}, {1, 2}}, {2}, overlap),
              "test: client 1, position 1: sample 2 is in validation: no client may train on it");
    EXPECT_EQ(message({{0}, {1, 4}}, {2}, overlap),
              "test: client 1, position 1: sample 4 is in test: no client may train on it");
    EXPECT_EQ(message({{0}}, {2, 4}, overlap),
              "test: test, position 0: sample 4 is in validation: nothing may be in both");
    EXPECT_EQ(message({{0, 1, 0}}, {}, overlap),
              "test: client 0, position 2: sample 0 is already in this list");
    EXPECT_EQ(message({{0}}, {1, 1}, overlap),
              "test: validation, position 1: sample 1 is already in this list");
    EXPECT_EQ(message({{0, 5}}, {}, overlap),
              "test: client 0, position 1: sample 5 is not in the training set of 5");
  }
}

}  // namespace
}  // namespace fedvg
