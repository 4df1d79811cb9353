#include "data/utf8.h"

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;

constexpr std::size_t kNowhere = std::string_view::npos;

// The first and the last character of each length, and the neighbours of the surrogates.
TEST(Utf8, AcceptsEveryCharacter) {
  for (const char* text :
       {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "Z\xc3\xbcrich \xe5\x8c\xbb"}) {
    EXPECT_EQ(first_not_utf8(text), kNowhere) << escaped(text);
  }
}

TEST(Utf8, FindsTheFirstByteThatIsNone) {
  for (const auto& [text, at] : {std::pair("Z\xfcrich", 1),
                                 {"\x80", 0},
                                 {"\xc0\x80", 0},
                                 {"\xc1\xbf", 0},
                                 {"ab\xc3", 2},
                                 {"ab\xc3(", 2},
                                 {"\xe0\x9f\xbf", 0},
                                 {"\xed\xa0\x80", 0},
                                 {"\xe2\x82", 0},
                                 {"\xf0\x8f\xbf\xbf", 0},
                                 {"\xf4\x90\x80\x80", 0},
                                 {"\xf5\x80\x80\x80", 0},
                                 {"\xc3\xbc\xff", 2}}) {
    EXPECT_EQ(first_not_utf8(text), static_cast<std::size_t>(at)) << escaped(text);
  }
}

TEST(Utf8, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(escaped("Z\xc3\xbcrich"), "Z\xc3\xbcrich");
  EXPECT_EQ(escaped("Z\xfcrich"), "Z\\xfcrich");
  EXPECT_EQ(escaped("\x1b[31mred\n"), "\\x1b[31mred\\x0a");
  EXPECT_EQ(escaped("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(escaped("\x7f"), "\\x7f");
}

TEST(Utf8, NamesAreTextOfOneLine) {
  EXPECT_NO_THROW(check_name("Z\xc3\xbcrich, \"old\"", "p holds", "rename it"));
  EXPECT_EQ(message_of<DataError>([] { check_name("Z\xfcrich", "p holds", "rename it"); }),
            "p holds \"Z\\xfcrich\", which is not UTF-8; rename it");
  EXPECT_EQ(message_of<DataError>([] { check_name("a\nb", "p holds", "rename it"); }),
            "p holds \"a\\x0ab\", which has control characters; rename it");
}

}  // namespace
}  // namespace fedvg
