#include "run/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Csv, NumbersTakeTheShortestFormThatReadsBack) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1.0), "1");
  EXPECT_EQ(shortest(1e-8), "1e-08");
  EXPECT_EQ(shortest(1.0 / 3.0), "0.3333333333333333");
  EXPECT_EQ(shortest(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(shortest(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(shortest(std::nan("")), "nan");
  EXPECT_EQ(shortest(-std::nan("")), "nan");
  EXPECT_EQ(*number_in(shortest(5e-324), ""), 5e-324);
}

TEST(Csv, WhatWasNotMeasuredIsAnEmptyCell) {
  CsvLine line;
  line.add(3).add(std::optional<double>()).add_unless_nan(std::nan("")).add(0.0);
  EXPECT_EQ(line.text(), "3,,,0\n");
}

TEST(Csv, TextWithACommaIsQuotedAndReadsBack) {
  const TestFolder folder;
  CsvLine line;
  line.add("a,b").add("say \"hi\"").add("plain");
  EXPECT_EQ(line.text(), "\"a,b\",\"say \"\"hi\"\"\",plain\n");
  const auto table = read_csv(folder.file("t.csv", "x,y,z\n" + line.text()));
  EXPECT_THAT(table.rows.at(0), ElementsAre("a,b", "say \"hi\"", "plain"));
}

TEST(Csv, ReadsWhatItWritesAndFindsColumns) {
  const TestFolder folder;
  const auto table = read_csv(folder.file("t.csv", "round,loss\r\n1,0.5\r\n2,"));
  EXPECT_EQ(table.column("loss"), 1U);
  EXPECT_EQ(table.column("accuracy"), std::nullopt);
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("1", "0.5"), ElementsAre("2", "")));
}

TEST(Csv, RefusesDamagedTablesNamingTheLine) {
  const TestFolder folder;
  const auto refusal = [&](const std::string& text) {
    return message_of<DataError>([&] { read_csv(folder.file("t.csv", text)); });
  };
  EXPECT_THAT(refusal("a,b\n1,2\n3\n"), HasSubstr("t.csv:3: 1 cells, but the header has 2"));
  EXPECT_THAT(refusal("a,b\n1,\"2\n"), HasSubstr("quote"));
  EXPECT_THAT(refusal(""), HasSubstr("no header"));
  EXPECT_THROW(read_csv(folder.path() / "absent.csv"), DataError);
  EXPECT_THAT(message_of<DataError>([] { number_in("1x", "t.csv:2"); }),
              HasSubstr("t.csv:2: '1x' is not a number"));
}

}  // namespace
}  // namespace fedvg
