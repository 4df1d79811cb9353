#include "data/partitions/testing.h"
#include "data/testing.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using testing::draw;
using testing::labels_by_class;
using testing::message_of;
using testing::request_for;
using testing::TemporaryFolder;

Table file(const std::string& path) {
  Table options;
  options.set("file", path);
  return options;
}

// Three clients of a request for 100 with at least 10 samples: neither applies.
TEST(FilePartition, IsTakenAsItStands) {
  const TemporaryFolder folder;
  const auto path = folder.write("p.json", std::string("[[4, 0], [], [2]]"));
  const auto labels = labels_by_class({6});
  const auto partition = draw(request_for(labels, 100, 10), "file", file(path));
  EXPECT_EQ(partition.clients, (std::vector<IndexList>{{4, 0}, {}, {2}}));
  EXPECT_FALSE(partition.validation.has_value());
  EXPECT_EQ(partition.notes,
            (std::vector<std::string>{"partition of 3 clients taken from " + path +
                                      " as it stands; 3 of 6 training samples are in none of "
                                      "its lists"}));
}

TEST(FilePartition, BringsItsValidation) {
  const TemporaryFolder folder;
  const auto path =
      folder.write("p.json", std::string(R"({"clients": [[0, 1]], "validation": [3, 2]})"));
  const auto labels = labels_by_class({4});
  const auto partition = draw(request_for(labels, 100, 10), "file", file(path));
  EXPECT_EQ(partition.validation, (IndexList{3, 2}));
  EXPECT_EQ(partition.notes, (std::vector<std::string>{"partition of 1 clients taken from " + path +
                                                       " as it stands"}));
}

TEST(FilePartition, SharesSamplesOnlyWithOverlap) {
  const TemporaryFolder folder;
  const auto path = folder.write("p.json", std::string("[[0, 1], [1]]"));
  const auto labels = labels_by_class({2});
  auto request = request_for(labels, 2, 0);
  EXPECT_EQ(message_of<DataError>([&] { draw(request, "file", file(path)); }),
            path +
                ": client 1, position 0: sample 1 already belongs to client 0; "
                "partition.overlap = true would allow that");
  request.overlap = true;
  EXPECT_EQ(draw(request, "file", file(path)).clients, (std::vector<IndexList>{{0, 1}, {1}}));
}

TEST(FilePartition, AsksForOwnersButDividesWithoutThem) {
  const TemporaryFolder folder;
  Table options = file(folder.write("p.json", std::string("[[0], [1]]")));
  options.set("column", "who");
  EXPECT_EQ(Registry<Partitioner>::instance().make("file", options)->owner_column(), "who");
  const auto labels = labels_by_class({2});
  auto request = request_for(labels, 2, 0);
  const auto message = message_of<OptionError>([&] { draw(request, "file", options); });
  EXPECT_NE(message.find("partition.column = \"who\""), std::string::npos) << message;
  EXPECT_NE(message.find("does not say whose its samples are"), std::string::npos) << message;
  const std::vector<std::string> owners = {"a", "a"};
  request.owners = owners;
  EXPECT_EQ(draw(request, "file", options).clients, (std::vector<IndexList>{{0}, {1}}));
}

TEST(FilePartition, NeedsAFile) {
  const auto labels = labels_by_class({2});
  const auto message = message_of<OptionError>([&] { draw(request_for(labels, 2, 0), "file"); });
  EXPECT_NE(message.find("partition.file"), std::string::npos) << message;
}

}  // namespace
}  // namespace fedvg
