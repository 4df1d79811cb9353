#include "data/partitions/testing.h"
#include "data/testing.h"

namespace fedvg {
namespace {

using testing::draw;
using testing::labels_by_class;
using testing::message_of;
using testing::request_for;
using Names = std::vector<std::string>;

Table column(const std::string& name) {
  Table options;
  options.set("column", name);
  return options;
}

// A request for 100 clients of at least 10 samples: neither applies.
struct Owned {
  explicit Owned(Names names)
      : owners(std::move(names)),
        labels(labels_by_class({std::ssize(owners)})),
        request(request_for(labels, 100, 10)) {
    request.owners = owners;
  }
  Names owners;
  std::vector<std::int64_t> labels;
  PartitionRequest request;
};

// U34
TEST(Natural, KeepsTheGroupingExactly) {
  const Owned data({"bo", "al", "bo", "cy", "al", "bo"});
  const auto partition = draw(data.request, "natural", column("who"));
  EXPECT_EQ(partition.clients, (std::vector<IndexList>{{1, 4}, {0, 2, 5}, {3}}));
  EXPECT_EQ(partition.names, (Names{"al", "bo", "cy"}));
  EXPECT_EQ(partition.notes, (Names{"3 clients by \"who\", as it stands: 0 = al, 1 = bo, 2 = cy"}));
}

TEST(Natural, OrdersNumbersByValue) {
  EXPECT_EQ(draw(Owned({"10", "9", "-1", "2.5", "9"}).request, "natural", column("who")).names,
            (Names{"-1", "2.5", "9", "10"}));
  // One name that is no number, and all are names.
  EXPECT_EQ(draw(Owned({"10", "9", "x", "9a"}).request, "natural", column("who")).names,
            (Names{"10", "9", "9a", "x"}));
}

// Who loses all samples to D_val stays a client, without samples.
TEST(Natural, GivesOnlyWhatIsAvailable) {
  Owned data({"a", "b", "b", "c"});
  data.request.available = {0, 2};
  const auto partition = draw(data.request, "natural", column("who"));
  EXPECT_EQ(partition.clients, (std::vector<IndexList>{{0}, {2}, {}}));
}

TEST(Natural, NamesTenClientsOfMany) {
  Names owners;
  for (int i = 0; i < 12; ++i) owners.push_back(std::to_string(i));
  const auto partition = draw(Owned(owners).request, "natural", column("who"));
  EXPECT_TRUE(partition.notes[0].ends_with("8 = 8, 9 = 9 and 2 more")) << partition.notes[0];
}

TEST(Natural, NeedsAColumnAndOwners) {
  const Owned data({"a", "b"});
  EXPECT_NE(message_of<OptionError>([&] {
              draw(data.request, "natural");
            }).find("needs partition.column"),
            std::string::npos);
  Owned unowned({"a", "b"});
  unowned.request.owners = {};
  EXPECT_EQ(message_of<OptionError>([&] { draw(unowned.request, "natural", column("who")); }),
            "partition.scheme = \"natural\": data.name = \"test\" does not say whose its samples "
            "are; choose another scheme");
  EXPECT_EQ(message_of<DataError>([&] {
              draw(Owned({"a", ""}).request, "natural", column("who"));
            }),
            "test: \"who\" is empty at sample 1 (counted from 0): every sample must belong to a "
            "client");
  Owned shorter({"a", "b"});
  shorter.request.owners = shorter.request.owners.first(1);
  EXPECT_THROW(draw(shorter.request, "natural", column("who")), DataError);
}

}  // namespace
}  // namespace fedvg
