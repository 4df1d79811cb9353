#include "data/csv.h"

#include <string>
#include <vector>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;
using Records = std::vector<std::vector<std::string>>;

Records records(const std::string& text) {
  CsvText csv(text, "set.csv");
  Records all;
  for (std::vector<std::string> fields; csv.next(fields);) all.push_back(fields);
  return all;
}

TEST(CsvText, ReadsRecordsWhateverEndsALine) {
  const Records wanted = {{"a", "b"}, {"1", ""}, {"", "2"}};
  EXPECT_EQ(records("a,b\n1,\n,2"), wanted);
  EXPECT_EQ(records("a,b\r\n1,\r\n,2\r\n"), wanted);
  EXPECT_EQ(records("a,b\r1,\r,2\r"), wanted);
  EXPECT_EQ(records("\xef\xbb\xbf"
                    "a,b\n\n  \n1,\n,2\n\n"),
            wanted);
  EXPECT_EQ(records(" a ,\tb\n 1,  \n,2 "), wanted);
  EXPECT_TRUE(records("").empty());
  EXPECT_TRUE(records("\n \n").empty());
}

TEST(CsvText, ReadsQuotedFields) {
  EXPECT_EQ(records("\"a,b\", \"say \"\"no\"\"\" ,\"\"\n\"two\nlines\",x,\" y \"\n"),
            (Records{{"a,b", "say \"no\"", ""}, {"two\nlines", "x", " y "}}));
}

TEST(CsvText, CountsLines) {
  const std::string text = "a,b\n\n\"1\n2\",3\r\n4,5\n";
  CsvText csv(text, "set.csv");
  std::vector<std::string> fields;
  std::vector<std::int64_t> lines;
  while (csv.next(fields)) lines.push_back(csv.line());
  EXPECT_EQ(lines, (std::vector<std::int64_t>{1, 3, 5}));
}

TEST(CsvText, RefusesWhatIsNoText) {
  for (const auto& [text, place] :
       {std::pair("a,b\nZ\xfcrich,1\n", "set.csv line 2: the byte \\xfc is not UTF-8"),
        {"Z\xfcrich\n", "set.csv line 1: the byte \\xfc is not UTF-8"},
        {"a\r\n1\r\n\xc3\r\n", "set.csv line 3: the byte \\xc3 is not UTF-8"},
        {"a\r1\r\"2\n\xff\"", "set.csv line 4: the byte \\xff is not UTF-8"},
        {"a\n\n\x1b[31m", "set.csv line 3: the byte \\x1b is a control character"}}) {
    const auto message = message_of<DataError>([&, &t = text] { CsvText(t, "set.csv"); });
    EXPECT_TRUE(message.starts_with(place)) << message;
  }
  EXPECT_NO_THROW(CsvText("Z\xc3\xbcrich\t,\xe5\x8c\xbb\r\n", "set.csv"));
}

TEST(CsvText, RefusesMisplacedQuotes) {
  for (const auto& [text, part] : {std::pair("a\n\"b", "set.csv line 2: a quote is opened"),
                                   {"\"a\"b", "closing quote"},
                                   {"a\"b", "a quote inside a field"}}) {
    const auto message = message_of<DataError>([&, &t = text] { records(t); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace fedvg
