#include "run/checkpoints/json_form.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fedvg {
namespace {

struct Inner {
  double number = 0;
  std::string text;
};

struct Outer {
  std::int64_t whole = 0;
  bool flag = false;
  Inner inner;
  std::optional<double> maybe;
  std::optional<Inner> maybe_inner;
  std::vector<Inner> list;
  std::vector<std::vector<std::int64_t>> table;
  std::set<std::string> words;
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::int64_t>> by_key;
};

template <class Visit>
void fields(const Visit& visit, Inner& x) {
  visit("number", x.number);
  visit("text", x.text);
}

template <class Visit>
void fields(const Visit& visit, Outer& x) {
  visit("whole", x.whole);
  visit("flag", x.flag);
  visit("inner", x.inner);
  visit("maybe", x.maybe);
  visit("maybe_inner", x.maybe_inner);
  visit("list", x.list);
  visit("table", x.table);
  visit("words", x.words);
  visit("by_key", x.by_key);
}

template <class T>
T there_and_back(const T& x) {
  T back;
  json_form::from(nlohmann::json::parse(json_form::to(x).dump()), back);
  return back;
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(JsonForm, NumbersComeBackToTheBit) {
  using Limits = std::numeric_limits<double>;
  for (const double number : {0.0, -0.0, 1.0, 0.1, 0.1 + 0.2, 1.0 / 3, -2.0 / 3, 1e23, 5e-324,
                              Limits::max(), Limits::lowest(), Limits::min(), Limits::epsilon(),
                              123456789012345678.0, 0.30000000000000004, 9007199254740993.0}) {
    EXPECT_TRUE(same_bits(there_and_back(number), number)) << number;
  }
  // A walk over all magnitudes.
  double number = 1;
  for (int i = 0; i < 10'000; ++i) {
    number = std::fmod(number * 1.1234567890123456 + i, 3.7) * (i % 2 == 0 ? 1e9 : 1e-9);
    ASSERT_TRUE(same_bits(there_and_back(number), number)) << number;
  }
}

TEST(JsonForm, NumbersThatAreNotFiniteAreWords) {
  EXPECT_EQ(json_form::to(kInfinity).dump(), "\"inf\"");
  EXPECT_EQ(json_form::to(-kInfinity).dump(), "\"-inf\"");
  EXPECT_EQ(json_form::to(std::nan("")).dump(), "\"nan\"");
  EXPECT_EQ(there_and_back(kInfinity), kInfinity);
  EXPECT_EQ(there_and_back(-kInfinity), -kInfinity);
  EXPECT_TRUE(std::isnan(there_and_back(std::nan(""))));
}

TEST(JsonForm, WholeNumbersComeBack) {
  for (const std::int64_t number :
       {std::int64_t{0}, INT64_MIN, INT64_MAX, std::int64_t{-1}, std::int64_t{9007199254740993}}) {
    EXPECT_EQ(there_and_back(number), number);
  }
}

TEST(JsonForm, WhatIsAbsentStaysAbsent) {
  using Maybe = std::optional<double>;
  EXPECT_EQ(there_and_back(Maybe()), Maybe());
  EXPECT_EQ(there_and_back(Maybe(0)), Maybe(0));
  EXPECT_TRUE(std::isnan(there_and_back(Maybe(std::nan(""))).value()));
  Maybe before = 3;
  json_form::from(nlohmann::json(), before);
  EXPECT_FALSE(before);
}

TEST(JsonForm, StructsComeBackWithAllThatTheyHold) {
  Outer outer;
  outer.whole = -7;
  outer.flag = true;
  outer.inner = {-0.5, "größe \"\n\\"};
  outer.maybe = 0.1;
  outer.maybe_inner = Inner{kInfinity, ""};
  outer.list = {{1, "a"}, {2, "b"}};
  outer.table = {{1, 2}, {}, {3}};
  outer.words = {"", "x"};
  outer.by_key = {{{"dead", 3}, {1, 2}}, {{"dead", 12}, {}}, {{"", -1}, {7}}};
  Outer back = there_and_back(outer);
  EXPECT_EQ(back.whole, -7);
  EXPECT_TRUE(back.flag);
  EXPECT_EQ(back.inner.number, -0.5);
  EXPECT_EQ(back.inner.text, outer.inner.text);
  EXPECT_EQ(back.maybe, 0.1);
  EXPECT_EQ(back.maybe_inner.value().number, kInfinity);
  ASSERT_EQ(back.list.size(), 2U);
  EXPECT_EQ(back.list[1].text, "b");
  EXPECT_EQ(back.table, outer.table);
  EXPECT_EQ(back.words, outer.words);
  EXPECT_EQ(back.by_key, outer.by_key);

  // Over one that holds something: nothing of that stays.
  json_form::from(json_form::to(Outer()), back);
  EXPECT_EQ(json_form::to(back), json_form::to(Outer()));
  EXPECT_FALSE(back.maybe_inner);
}

template <class T>
bool is_refused(const char* text) {
  T x{};
  try {
    json_form::from(nlohmann::json::parse(text), x);
  } catch (const nlohmann::json::exception&) {
    return true;
  }
  return false;
}

TEST(JsonForm, WhatIsOfAnotherFormIsRefused) {
  EXPECT_TRUE(is_refused<std::int64_t>("\"1\""));
  EXPECT_TRUE(is_refused<bool>("1"));
  EXPECT_TRUE(is_refused<std::string>("1"));
  EXPECT_TRUE(is_refused<double>("null"));
  EXPECT_TRUE(is_refused<double>("[]"));
  EXPECT_TRUE(is_refused<double>("\"many\""));
  EXPECT_FALSE(is_refused<double>("\"nan\""));
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_TRUE(is_refused<Pair>("[1]"));
  EXPECT_TRUE(is_refused<Pair>("1"));
  EXPECT_FALSE(is_refused<Pair>("[1, 2]"));
  for (const char* text : {"null", "1", "\"a\"", "{\"a\": 1}"}) {
    EXPECT_TRUE(is_refused<std::vector<std::int64_t>>(text)) << text;
    EXPECT_TRUE(is_refused<std::set<std::int64_t>>(text)) << text;
  }
  EXPECT_TRUE((is_refused<std::map<std::int64_t, std::int64_t>>("{\"a\": 1}")));
  EXPECT_TRUE((is_refused<std::map<std::int64_t, std::int64_t>>("[1]")));
  EXPECT_FALSE((is_refused<std::map<std::int64_t, std::int64_t>>("[[1, 2]]")));
  EXPECT_TRUE(is_refused<Inner>("{\"number\": 1}"));
  EXPECT_TRUE(is_refused<Inner>("[]"));
  EXPECT_FALSE(is_refused<Inner>("{\"number\": 1, \"text\": \"\"}"));
}

}  // namespace
}  // namespace fedvg
