#include "data/npz.h"

#include <fstream>
#include <string>
#include <vector>

#include "data/arrays_testing.h"
#include "data/file_bytes.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::counting;
using testing::message_of;
using testing::NamedBytes;
using testing::npy_bytes;
using testing::TemporaryFolder;
using testing::write_zip;

const NamedBytes two_arrays = {{"x.npy", npy_bytes("(2, 3)", counting(6))},
                               {"remarks.txt", {'h', 'i'}},
                               {"y.npy", npy_bytes("(2,)", {1, 0})}};

void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

std::string refusal(const std::string& path) {
  return message_of<DataError>([&] { const NpzFile file(path); });
}

Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

TEST(NpzFile, ReadsDeflatedAndStoredArrays) {
  for (const bool deflated : {true, false}) {
    const TemporaryFolder folder;
    const NpzFile file(write_zip(folder, "set.npz", two_arrays, deflated));
    EXPECT_EQ(file.keys(), (std::vector<std::string>{"x", "y"}));
    EXPECT_TRUE(file.has("y"));
    EXPECT_FALSE(file.has("remarks.txt"));
    EXPECT_EQ(file.read("x").values, counting(6));
    EXPECT_EQ(file.read("y").values, (Bytes{1, 0}));
    EXPECT_EQ(file.read("x").shape, (std::vector<std::int64_t>{2, 3}));
  }
}

// numpy 2.4.6: np.savez_compressed(file, y=np.array([1, 0]),
//     x=np.asfortranarray(np.array([[0, 1, 2], [3, 4, 5]], dtype=">i2")))
TEST(NpzFile, ReadsWhatNumPyWrote) {
  const std::string written =
      "504b03042d000000080000002100e11efaa8ffffffffffffffff05001400782e6e7079010010008c0000000000"
      "000051000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9769a4aea3a09e965f54529498"
      "179f5f94920a120f292a4d050a17672416a402b91a463a0ac69a3a0ab50ae4032e060606660646061606260656"
      "00504b03042d00000008000000210071fb39abffffffffffffffff05001400792e6e7079010010009000000000"
      "00000048000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f545294"
      "98179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e4606540000504b01022d032d"
      "000000080000002100e11efaa8510000008c000000050000000000000000000000800100000000782e6e707950"
      "4b01022d032d00000008000000210071fb39ab4800000090000000050000000000000000000000800188000000"
      "792e6e7079504b0506000000000200020066000000070100000000";
  const TemporaryFolder folder;
  const NpzFile file(folder.write("set.npz", from_hex(written)));
  EXPECT_EQ(integers_of(file.read("x")), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(integers_of(file.read("y")), (std::vector<std::int64_t>{1, 0}));
}

TEST(NpzFile, NamesFileAndArrayOfAFault) {
  const TemporaryFolder folder;
  const NpzFile file(write_zip(
      folder, "set.npz", {{"x.npy", npy_bytes("(2, 3)", counting(5))}, {"y.npy", {1, 2, 3}}}));
  expect_contains(message_of<DataError>([&] { file.read("x"); }), "set.npz: x is truncated");
  expect_contains(message_of<DataError>([&] { file.read("y"); }), "set.npz: y is not a NumPy");
  expect_contains(message_of<DataError>([&] { file.read("z"); }), "has no array z; it has x, y");
}

TEST(NpzFile, SaysWhatItIsInstead) {
  const TemporaryFolder folder;
  expect_contains(refusal((folder.path() / "absent").string()), "does not exist");
  expect_contains(refusal(folder.path().string()), "is not a file");
  expect_contains(refusal(folder.write("empty", Bytes{})), "is empty");
  expect_contains(refusal(folder.write("x.npy", npy_bytes("(1,)", {1}))),
                  "is a NumPy array; it should be an npz file");
  expect_contains(refusal(folder.write("page", std::string("<html>"))), "is a web page");
  expect_contains(refusal(write_zip(folder, "images.zip", {{"cat/1.png", {1}}})),
                  "without NumPy arrays (it holds cat/1.png)");
}

TEST(NpzFile, RefusesATruncatedArchiveAtEveryLength) {
  const TemporaryFolder folder;
  const Bytes bytes = read_file_bytes(write_zip(folder, "set.npz", two_arrays));
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    const Bytes start(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(NpzFile(folder.write("part.npz", start)), DataError) << size;
  }
}

// A changed byte of the stored values: only the archive's checksum can tell.
TEST(NpzFile, RefusesDamagedValues) {
  const TemporaryFolder folder;
  Bytes bytes = read_file_bytes(
      write_zip(folder, "set.npz", {{"x.npy", npy_bytes("(4,)", {'s', 'p', 'o', 't'})}}, false));
  const std::string text(bytes.begin(), bytes.end());
  bytes[text.find("spot")] ^= 1;
  const NpzFile file(folder.write("damaged.npz", bytes));
  expect_contains(message_of<DataError>([&] { file.read("x"); }), "damaged.npz: x is damaged");
}

TEST(NpzFile, RefusesAnArrayThatClaimsMoreThanItsArchiveCanHold) {
  const TemporaryFolder folder;
  for (const bool deflated : {true, false}) {
    const NpzFile file(write_zip(folder, "set.npz",
                                 {{"x.npy", npy_bytes("(900000000000,)", counting(9))}}, deflated));
    expect_contains(message_of<DataError>([&] { file.read("x"); }), "at most 9 bytes can follow");
  }
}

// The archive's directory lies too, of sizes before and after deflating.
TEST(NpzFile, RefusesAMemberThatClaimsMoreThanTheWholeFile) {
  const TemporaryFolder folder;
  Bytes bytes = read_file_bytes(
      write_zip(folder, "set.npz", {{"x.npy", npy_bytes("(900000000,)", counting(9))}}));
  const std::string text(bytes.begin(), bytes.end());
  const std::size_t sizes = text.find("PK\x01\x02") + 20;
  for (const std::size_t at : {sizes + 3, sizes + 7}) bytes[at] = 0x40;  // 2^30 and more
  const NpzFile file(folder.write("lies.npz", bytes));
  const std::uint64_t most = bytes.size() * 1032 + (1 << 16);
  expect_contains(message_of<DataError>([&] { file.read("x"); }),
                  "at most " + std::to_string(most) + " bytes can follow");
}

}  // namespace
}  // namespace fedvg
