#include "data/content_hash.h"

#include <set>

#include <gtest/gtest.h>

namespace fedvg {
namespace {

std::string digits_of(std::initializer_list<std::string_view> texts) {
  ContentHash hash;
  for (const auto text : texts) hash.add_text(text);
  return hash.digits();
}

TEST(ContentHash, ChangesWithContentOrderAndLimits) {
  const std::set<std::string> different = {
      digits_of({}),         digits_of({""}),         digits_of({"ab"}),
      digits_of({"a", "b"}), digits_of({"b", "a"}),   digits_of({"ab", ""}),
      digits_of({"", "ab"}), digits_of({"abcdefgh"}), digits_of({"abcdefghi"})};
  EXPECT_EQ(different.size(), 9u);
  EXPECT_EQ(digits_of({"a", "b"}), digits_of({"a", "b"}));
  EXPECT_NE(digits_of({std::string_view("ab\0", 3)}), digits_of({"ab"}));
}

TEST(ContentHash, DigitsAreTheValue) {
  ContentHash hash;
  hash.add(7);
  EXPECT_EQ(hash.digits().size(), 16u);
  EXPECT_EQ(std::stoull(hash.digits(), nullptr, 16), hash.value());
}

TEST(ContentHash, GoesOnFromAState) {
  ContentHash whole, before;
  whole.add(7);
  before.add(7);
  ContentHash after(before.state());
  whole.add(8);
  after.add(8);
  EXPECT_EQ(after.digits(), whole.digits());
  EXPECT_NE(after.state(), before.state());
}

}  // namespace
}  // namespace fedvg
