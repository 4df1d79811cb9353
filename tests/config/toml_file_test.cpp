#include "config/toml_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "fedvg/error.h"

namespace fedvg::config {
namespace {

std::string refusal(const std::string& toml) {
  try {
    read_toml(toml, "a.toml");
  } catch (const OptionError& e) {
    return e.what();
  }
  return "";
}

class File {
 public:
  explicit File(const std::string& text)
      : path_(std::filesystem::path(testing::TempDir()) /
              ("fedvg_toml_" + std::to_string(getpid()) + ".toml")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST(ReadToml, KnowsFileAndLineOfEveryValue) {
  const File file("seed = 1\n[train]\nlr = 0.1\nlist = [\n  1,\n  2,\n]\noptimizer.name = 'sgd'\n");
  const Table table = read_toml_file(file.path());
  EXPECT_EQ(table.find("seed")->source.text(), file.path().string() + ":1");
  EXPECT_EQ(table.find("train")->source.line, 2);
  const Table& train = *table.find("train")->get<Table>();
  EXPECT_EQ(train.find("lr")->source.line, 3);
  EXPECT_EQ((*train.find("list")->get<Array>())[1].source.line, 6);
  EXPECT_EQ(train.find("optimizer")->get<Table>()->find("name")->source.line, 8);
}

TEST(ReadToml, KeepsTheOrderOfTheFile) {
  EXPECT_EQ(Value(read_toml("z = 1\na = {y = 1, b = 2}\n[m]\n[[k]]\nq = 1\n", "")).text(),
            "{z = 1, a = {y = 1, b = 2}, m = {}, k = [{q = 1}]}");
}

TEST(ReadToml, AnIntegerThatIsTooLargeIsSaidWithTheLargest) {
  EXPECT_EQ(read_toml("a = 9223372036854775807\n", "").find("a")->text(), "9223372036854775807");
  EXPECT_EQ(refusal("a = 1\nb = [9223372036854775808]\n"),
            "a.toml:2: 9223372036854775808 is too large, the largest integer is "
            "9223372036854775807");
  EXPECT_EQ(refusal("a = 0x8000000000000000\n"),
            "a.toml:1: 0x8000000000000000 is too large, the largest integer is "
            "9223372036854775807");
}

TEST(ReadToml, RefusesWhatIsNotToml) {
  EXPECT_EQ(refusal("a = 1\nb = [1,,\n").substr(0, 9), "a.toml:2:");
  EXPECT_EQ(refusal("a = 1\nb\n").substr(0, 9), "a.toml:2:");
  EXPECT_EQ(refusal("a = 1\nc = 2\na = 2\n").substr(0, 9), "a.toml:3:");
  EXPECT_EQ(refusal("[a]\n[b]\n[a]\n").substr(0, 9), "a.toml:3:");
  EXPECT_EQ(refusal("a = \"\xff\"\n").substr(0, 9), "a.toml:1:");
  EXPECT_NE(refusal("a = 9223372036854775808\n"), "");
}

// Texts on which toml++ 3.3 fails an assertion, or is undefined.
TEST(ReadToml, RefusesWhatItsParserCannotBear) {
  EXPECT_EQ(refusal("a = 1\n[b]\n[[[c]]]\nd = 2\n"), "a.toml:3: not TOML");
  EXPECT_EQ(refusal("[[="), "a.toml:1: not TOML");
  EXPECT_EQ(refusal("a = 'é' # é\n'é' = \"\"\" \\\n é\"\"\"\n"), "");
  EXPECT_EQ(refusal("a = 1\né = 1\n").substr(0, 9), "a.toml:2:");
  EXPECT_EQ(refusal("a = 1\nb = “b”\n").substr(0, 9), "a.toml:2:");
  EXPECT_EQ(refusal("a = 1 é").substr(0, 9), "a.toml:1:");
  EXPECT_EQ(refusal("\xef\xbb\xbf"
                    "a = 1"),
            "");
}

TEST(ReadToml, RefusesDatesAndTimes) {
  EXPECT_EQ(refusal("a = 1\nb = 2024-01-02\n"),
            "a.toml:2: no option takes a date or time; put quotes around a text");
  EXPECT_NE(refusal("b = [07:32:00]\n"), "");
  EXPECT_NE(refusal("b = 1979-05-27T07:32:00Z\n"), "");
}

TEST(ReadToml, RefusesAFileThatCannotBeRead) {
  try {
    read_toml_file("/nowhere/a.toml");
    FAIL();
  } catch (const OptionError& e) {
    EXPECT_STREQ(e.what(), "/nowhere/a.toml: cannot be read: No such file or directory");
    EXPECT_EQ(e.exit_code(), 2);
  }
  EXPECT_THROW(read_toml_file(testing::TempDir()), OptionError);
  EXPECT_THROW(read_toml_file("/dev/zero"), OptionError);
}

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

TEST(ReadToml, RefusesDepthInsteadOfOverflowing) {
  constexpr int kDeep = 100000;
  EXPECT_NE(refusal("a = " + repeated("[", kDeep)), "");
  EXPECT_NE(refusal("a = " + repeated("{a=", kDeep)), "");
  EXPECT_NE(refusal("a = " + repeated("[", 40) + repeated("]", 40)), "");
  EXPECT_NE(refusal(repeated("a.", kDeep) + "a = 1"), "");
  EXPECT_NE(refusal("[" + repeated("a.", kDeep) + "a]"), "");
  EXPECT_NE(refusal(repeated("'a' . ", kDeep) + "a = 1"), "");
  EXPECT_NE(refusal("x = {a = \"\"\"q\"\"\"\", " + repeated("b.", kDeep) + "b = 1}"), "");
  EXPECT_NE(refusal("x = {a = \"\"\"q\"\"\"\"\", " + repeated("b.", kDeep) + "b = 1}"), "");
  EXPECT_NE(refusal("x = {a = \"q\\\"\", " + repeated("b.", kDeep) + "b = 1}"), "");
  EXPECT_NE(refusal("x = {a = 'q\\', " + repeated("b.", kDeep) + "b = 1}"), "");
}

// The parser counts levels of keys and of values apart from each other.
TEST(ReadToml, WhatItReadsIsReadAgain) {
  const auto document = [](int keys, int lists) {
    return "[" + repeated("a.", keys - 1) + "a]\na = " + repeated("[", lists) +
           repeated("]", lists) + "\n";
  };
  const Table deepest = read_toml(document(16, 16), "a.toml");
  EXPECT_EQ(read_toml(write_toml(deepest), "b.toml"), deepest);
  for (const auto& [keys, lists] : {std::pair(16, 17), std::pair(31, 20)}) {
    EXPECT_EQ(refusal(document(keys, lists)), "a.toml:2: nested deeper than 32 levels");
  }
}

TEST(ReadToml, DotsOutsideKeysAreNoDepth) {
  const std::string dots = repeated("a.b", 100);
  EXPECT_EQ(refusal("a = '" + dots + "' # " + dots + "\n# " + dots + "\nb = \"\"\"" + dots +
                    "\"\"\"\nc = [" + repeated("1.0, ", 100) + "]\n"),
            "");
}

TEST(ReadToml, ALargeFileIsRefusedAndManyKeysAreQuick) {
  EXPECT_EQ(refusal(std::string((1 << 20) + 1, '\n')),
            "a.toml: larger than 1 MiB, which is no configuration");
  std::string many;
  for (int i = 0; many.size() < (1 << 20) - 20; ++i) many += "k" + std::to_string(i) + "=1\n";
  EXPECT_GT(read_toml(many, "a.toml").entries().size(), 90000U);
}

TEST(ReadTomlValue, IsExactlyOneValue) {
  const auto text = [](const char* toml) {
    const auto value = read_toml_value(toml, {"--set", 0});
    return value ? value->text() : "none";
  };
  EXPECT_EQ(text("3"), "3");
  EXPECT_EQ(text(" 1e-3 "), "0.001");
  EXPECT_EQ(text("nan"), "nan");
  EXPECT_EQ(text("[1,\n2]"), "[1, 2]");
  EXPECT_EQ(text("{name = \"sgd\"}"), "{name = \"sgd\"}");
  for (const char* none : {"", "sgd", "3 # three", "3\nb = 4", "3, b = 4", "3} # {", "2024-01-02",
                           "[1", "\"a", "a\"b"}) {
    EXPECT_EQ(text(none), "none") << none;
  }
}

TEST(WriteToml, PutsSettingsBeforeSections) {
  const Table document{{"train", Table{{"lr", 1.0}, {"optimizer", Table{{"name", "sgd"}}}}},
                       {"seed", 1},
                       {"empty", Table{}}};
  EXPECT_EQ(write_toml(document),
            "seed = 1\n\n[train]\nlr = 1.0\noptimizer = {name = \"sgd\"}\n\n[empty]\n");
  EXPECT_EQ(write_toml({}), "");
}

// Random documents, written and read: equal, and written again the same.
class RandomDocument {
 public:
  explicit RandomDocument(std::uint64_t seed) : random_(seed) {}

  Table table(int depth) {
    Table result;
    for (int i = below(6); i > 0; --i) result.set(text(), value(depth));
    return result;
  }

 private:
  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint64_t>(end)); }

  std::string text() {
    static const std::vector<std::string> pieces = {
        "a",    "b",  "Z",  "9",    "_",  "-",      ".",
        " ",    "=",  "#",  "[",    "]",  "{",      "\"",
        "'",    "\\", "\n", "\r\n", "\t", "\b",     "\x1f",
        "\x7f", "é",  "日", "😀",    ",",  "\"\"\"", std::string(1, '\0')};
    std::string result;
    for (int i = below(8); i > 0; --i) result += pieces[random_() % pieces.size()];
    return result;
  }

  double number() {
    double result = 0;
    do {
      const std::uint64_t bits = random_();
      std::memcpy(&result, &bits, sizeof result);
    } while (std::isnan(result));
    const int kind = below(4);
    if (kind == 0) return std::round(std::fmod(result, 1e6));
    if (kind == 1) return static_cast<double>(static_cast<std::int64_t>(random_())) / 1000;
    return result;
  }

  Value value(int depth) {
    switch (below(depth > 0 ? 6 : 4)) {
      case 0:
        return below(2) == 0;
      case 1:
        return static_cast<std::int64_t>(random_());
      case 2:
        return number();
      case 3:
        return text();
      case 4: {
        Array list;
        for (int i = below(5); i > 0; --i) list.push_back(value(depth - 1));
        return list;
      }
      default:
        return table(depth - 1);
    }
  }

  std::mt19937_64 random_;
};

TEST(WriteToml, ReadAgainIsEqual) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Table document = RandomDocument(seed).table(4);
    const std::string text = write_toml(document);
    const Table again = read_toml(text, "random");
    ASSERT_EQ(document, again) << "seed " << seed << "\n" << text;
    ASSERT_EQ(write_toml(again), text);
  }
}

}  // namespace fedvg::config
