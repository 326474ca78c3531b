#include "cachet/report/text_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cachet/report/table.h"

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
  EXPECT_EQ(text_table(table, 33), text_table(table));  // it just fits
  EXPECT_EQ(text_table(table, 32),
            "Results\n"
            "model         plain      σ|λ\n"
            "──────────  ───────  ───────\n"
            "top-1       86.1 %   87.4 %*\n"
            "ms             4.2*    10.5\n"
            "parameters    2.1 M    2.1 M\n");
  table.rows.assign(9, table.rows[0]);
  EXPECT_EQ(text_table(table, 32), text_table(table));  // turned, it would be wider still
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
