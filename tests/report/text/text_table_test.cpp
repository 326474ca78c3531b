#include "cachet/report/text/text_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cachet/report/table.h"
#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

Table two_models() {
  return {"Results",
          {{"model"}, {"top-1", Alignment::right, Better::higher}, {"ms", Alignment::right, Better::lower}},
          {{"plain", {"86.1 %", 0.861}, {"4.2", 4.2}}, {"σ|λ", {"87.4 %", 0.874}, {"10.5", 10.5}}},
          ""};
}

TEST(TextTableTest, ColumnsAreAlignedByWhatIsSeen) {
  EXPECT_EQ(text_table(two_models()),
            "Results\n"
            "model    top-1     ms\n"
            "─────  ───────  ─────\n"
            "plain  86.1 %    4.2*\n"
            "σ|λ    87.4 %*  10.5\n");
}

TEST(TextTableTest, AWideTableIsTurned) {
  Table table = two_models();
  table.columns.push_back({"parameters"});
  for (auto& row : table.rows) row.push_back("2.1 M");
  EXPECT_EQ(text_table(table, {.columns = 33}), text_table(table));  // it just fits
  EXPECT_EQ(text_table(table, {.columns = 32}),
            "Results\n"
            "model         plain      σ|λ\n"
            "──────────  ───────  ───────\n"
            "top-1       86.1 %   87.4 %*\n"
            "ms             4.2*    10.5\n"
            "parameters    2.1 M    2.1 M\n");
  table.rows.assign(9, table.rows[0]);
  EXPECT_EQ(text_table(table, {.columns = 32}), text_table(table));  // turned, it would be wider still
}

TextForm terminal(int columns) { return {.columns = columns, .whole = false, .whole_by = "--wide"}; }

int widest_line(const std::string& text) {
  int widest = 0;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    widest = std::max(widest, display_width(std::string_view(text).substr(at, text.find('\n', at) - at)));
  return widest;
}

TEST(TextTableTest, ATerminalWrapsTextsAtWords) {
  const Table recipes{"",
                      {{"recipe"}, {"what it is"}},
                      {{"vision/demo", "a small vision transformer on images, in two minutes or so"}, {"short", "one"}},
                      ""};
  EXPECT_EQ(text_table(recipes, terminal(42)),
            "recipe       what it is\n"
            "───────────  ─────────────────────────────\n"
            "vision/demo  a small vision transformer on\n"
            "             images, in two minutes or so\n"
            "short        one\n");
  EXPECT_EQ(text_table(recipes), text_table(recipes, terminal(200)));
}

TEST(TextTableTest, ATerminalWrapsTheHeadsOfNumbersAndNotTheNumbers) {
  Table models{"",
               {{"model"}, {"linear + conv MACs", Alignment::right}, {"attention MACs", Alignment::right}},
               {{"deit_tiny_patch16_224", "1.08 G", "179 M"}},
               ""};
  models.rows.resize(3, models.rows[0]);
  EXPECT_EQ(text_table(models, terminal(44)),
            "                         linear +  attention\n"
            "model                   conv MACs       MACs\n"
            "─────────────────────  ──────────  ─────────\n"
            "deit_tiny_patch16_224      1.08 G      179 M\n"
            "deit_tiny_patch16_224      1.08 G      179 M\n"
            "deit_tiny_patch16_224      1.08 G      179 M\n");
}

TEST(TextTableTest, ATerminalLeavesOutWhatMattersLeast) {
  Table table{"", {{"run"}}, {}, ""};
  for (const char* name : {"accuracy", "duration", "memory"}) table.columns.push_back({name, Alignment::right});
  table.columns[2].importance = -1;
  for (const char* run : {"one", "two", "three", "four", "five"})
    table.rows.push_back({run, "87.4 %", "3m12s", "1 GiB"});
  const std::string all = text_table(table, terminal(80));
  EXPECT_EQ(text_table(table, terminal(33)), all);
  const std::string narrower = text_table(table, terminal(32));
  EXPECT_NE(narrower.find("three    87.4 %   1 GiB\n"), std::string::npos) << narrower;
  EXPECT_NE(narrower.find("There is no room here for:\nduration; --wide shows all\n"), std::string::npos) << narrower;
  const std::string narrowest = text_table(table, terminal(17));
  EXPECT_EQ(narrowest.find("GiB"), std::string::npos) << "of equals the last goes first";
  for (int columns = 5; columns < 40; ++columns) {
    const std::string text = text_table(table, terminal(columns));
    EXPECT_EQ(text.find("87.4\n"), std::string::npos) << "numbers are never broken";
    EXPECT_LE(widest_line(text), std::max(columns, 9)) << text;
  }
  EXPECT_NE(text_table(table, terminal(3)).find("three\n"), std::string::npos) << "the first column stays";
}

TEST(TextTableTest, ATerminalTurnsATableRatherThanCutIt) {
  Table table = two_models();
  table.columns.push_back({"parameters"});
  for (auto& row : table.rows) row.push_back("2.1 M");
  EXPECT_EQ(text_table(table, terminal(32)), text_table(table, {.columns = 32}));
}

TEST(TextTableTest, WhereThereIsNoUtf8ItIsAscii) {
  Table table = two_models();
  table.note = "± is a standard error – of 3×3 …";
  EXPECT_EQ(text_table(table, {.columns = 80, .whole = false, .unicode = false}),
            "Results\n"
            "model           top-1     ms\n"
            "------------  -------  -----\n"
            "plain         86.1 %    4.2*\n"
            "sigma|lambda  87.4 %*  10.5\n"
            "+- is a standard error - of 3x3 ...\n");
}

TEST(TextTableTest, MarkdownEscapesAndMarks) {
  EXPECT_EQ(markdown_table(two_models()),
            "| model | top-1 | ms |\n"
            "| --- | ---: | ---: |\n"
            "| plain | 86.1 % | **4.2** |\n"
            "| σ\\|λ | **87.4 %** | 10.5 |\n");
}

TEST(TextTableTest, CsvHasTheNumbers) {
  EXPECT_EQ(csv_table(two_models()), "model,top-1,ms\r\nplain,0.861,4.2\r\nσ|λ,0.874,10.5\r\n");
}

TEST(TextTableTest, RowsMayBeShortLongOrBroken) {
  const Table table{"", {{"a"}, {"b"}}, {{"1"}, {"1", "2", "3"}, {"x\ny", "\t"}}, "a note"};
  EXPECT_EQ(text_table(table), "a    b\n───  ─\n1\n1    2\nx y\na note\n");
  EXPECT_EQ(csv_table(table), "a,b\r\n1,\r\n1,2\r\n\"x\ny\",\t\r\n");
  EXPECT_EQ(markdown_table(table), "| a | b |\n| --- | --- |\n| 1 |  |\n| 1 | 2 |\n| x y |   |\n");
  EXPECT_EQ(text_table({}), "\n\n");
}

TEST(TableMarksTest, NothingIsBestWhereAllAreEqualOrNotFinite) {
  Table table = two_models();
  table.rows[1][1].value = 0.861;
  table.rows[0][2].value = NAN;
  const TableMarks best(table);
  EXPECT_FALSE(best.in_column(0));
  EXPECT_FALSE(best.in_column(1));
  EXPECT_FALSE(best.in_column(2));
}

TEST(TableMarksTest, DifferencesThatAreNotShownMarkNothing) {
  Table table{"", {{"run"}, {"top-1", Alignment::right, Better::higher}}, {}, ""};
  table.rows = {{"a", {"99.0 % ± 0.2 %", 0.9901}}, {"b", {"99.0 % (98.7 % to 99.2 %)", 0.9904}}};
  EXPECT_FALSE(TableMarks(table).in_column(1));
  table.rows.push_back({"c", {"98.9 %", 0.9894}});
  const TableMarks best(table);
  EXPECT_TRUE(best.is_best(0, 1) && best.is_best(1, 1));
  EXPECT_FALSE(best.is_best(2, 1));
}

TEST(TableMarksTest, EqualBestOnesAreAllMarked) {
  Table table = two_models();
  table.rows.push_back({"third", {"87.4 %", 0.874}});
  const TableMarks best(table);
  EXPECT_FALSE(best.is_best(0, 1));
  EXPECT_TRUE(best.is_best(1, 1));
  EXPECT_TRUE(best.is_best(2, 1));
  EXPECT_FALSE(best.is_best(2, 2));  // a cell that is not there
}

}  // namespace
}  // namespace cachet::report
