#include <gtest/gtest.h>

#include <cmath>

#include "cachet/report/charts/heat_map.h"
#include "cachet/report/charts/image_grid.h"
#include "cachet/report/charts/line_chart.h"
#include "cachet/report/charts/small_multiples.h"
#include "cachet/report/page/code_block.h"
#include "cachet/report/table.h"
#include "tests/report/stored_png.h"
#include "tests/report/well_formed.h"

namespace cachet::report {
namespace {

template <class Content>
std::string block_drawing(const Content& content) {
  Markup html;
  draw(html, content);
  EXPECT_EQ(test::markup_error(html.str()), "");
  return html.str();
}

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ImageGridTest, Base64OfRfc4648) {
  for (auto [plain, coded] :
       {std::pair("", ""), {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64(plain), coded);
  }
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(ImageGridTest, OnlyPicturesGetAnAddress) {
  const std::string png = test::stored_png(2, [](int row, int) { return row * 255; });
  EXPECT_EQ(image_address(png).substr(0, 26), "data:image/png;base64,iVBO");
  EXPECT_EQ(image_address("\xFF\xD8\xFF\xE0").substr(0, 16), "data:image/jpeg;");
  for (const char* other : {"", "\x89PNG", "<svg onload='x'>", "RIFFxxxxWAVE"}) EXPECT_EQ(image_address(other), "");
  const std::string html =
      block_drawing(ImageGrid{"g", {{png, "cat", "dog", 0.61}, {"broken", "cat", "cat", NAN}}, ""});
  EXPECT_NE(html.find("is cat"), std::string::npos);
  EXPECT_NE(html.find("61 %"), std::string::npos);
  EXPECT_NE(html.find("no picture"), std::string::npos);
}

TEST(ImageGridTest, ScenesAreLargerThanThumbnails) {
  ImageGrid grid{"g", {{"", "a", "a"}}, ""};
  EXPECT_EQ(times(block_drawing(grid), "scenes"), 0u);
  grid.size = PictureSize::scenes;
  EXPECT_EQ(times(block_drawing(grid), "class=\"pictures scenes wide\""), 1u);
}

TEST(LineChartTest, EverySeriesHasACurveAndASwitch) {
  LineChart chart{"c", "x", "y", {}};
  for (int i = 0; i < 14; ++i) chart.series.push_back({"series " + std::to_string(i), {1, 2, 3}, {1.0 + i, 2, 3}});
  const std::string html = block_drawing(chart);
  EXPECT_EQ(times(html, "<g class=\"s"), 28u);  // on a linear and on a logarithmic scale
  EXPECT_EQ(times(html, "class=\"key\""), 14u);
  EXPECT_EQ(times(html, "class=\"direct"), 0u);
  chart.series.resize(3);
  EXPECT_EQ(times(block_drawing(chart), "class=\"direct"), 3u);
}

TEST(LineChartTest, ClassesOfTwelveSeriesDiffer) {
  for (size_t i = 0; i < 12; ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(series_class(i), series_class(j));
  }
}

TEST(LineChartTest, LogarithmicScaleOnlyWhereItIsPossible) {
  const auto scales = [](std::vector<double> y, bool wished) {
    const std::string html = block_drawing(LineChart{"c", "x", "y", {{"a", {1, 2, 3}, y}}, wished});
    return times(html, "<svg class=\"plot");
  };
  EXPECT_EQ(scales({1, 2, 3}, false), 1u);
  EXPECT_EQ(scales({1, 2, 30}, false), 2u);
  EXPECT_EQ(scales({0, 2, 30}, false), 1u);
  EXPECT_EQ(scales({1, 2, 3}, true), 2u);
  EXPECT_EQ(scales({0, 2, 3}, true), 2u);
  EXPECT_EQ(scales({0, -2, 0}, true), 1u);
  EXPECT_EQ(scales({NAN, NAN, NAN}, true), 1u);
}

TEST(LineChartTest, LonePointsAreDots) {
  const std::string html = block_drawing(LineChart{"c", "x", "y", {{"a", {1, 2, 3}, {1, NAN, 2}}}});
  EXPECT_NE(html.find("class=\"dots\""), std::string::npos);
  EXPECT_NE(html.find("One value is not finite"), std::string::npos);
}

TEST(SmallMultiplesTest, ManyPanelsAreCut) {
  SmallMultiples many{"m", {}, true, ""};
  for (int i = 0; i < 120; ++i) many.charts.push_back({"p", "x", "y", {{"a", {1, 2}, {1, 2}}}});
  const std::string html = block_drawing(many);
  EXPECT_EQ(times(html, "class=\"panel\""), 96u);
  EXPECT_NE(html.find("The first 96 of 120 are drawn."), std::string::npos);
}

TEST(HeatMapTest, NamesOfAxesStandAboveThoseOfColumnsWhereTheyDoNotFitBeforeThem) {
  const std::string column = "text-anchor=\"middle\">c</text>";
  const std::string before =
      block_drawing(HeatMap{"h", "head", "layer", {"c"}, {"blocks.0.attention"}, {NAN}, {}, {}, ""});
  EXPECT_NE(before.find("y=\"14\" " + column), std::string::npos) << before;
  const std::string above =
      block_drawing(HeatMap{"h", "a model's layers", "another model's layers", {"c"}, {"0"}, {NAN}, {}, {}, ""});
  EXPECT_NE(above.find("y=\"32\" " + column), std::string::npos) << above;
  EXPECT_NE(above.find("y=\"14\">another model&#39;s layers \\ a model&#39;s layers<"), std::string::npos) << above;
}

TEST(HeatMapTest, ValuesAndHoles) {
  const std::string html =
      block_drawing(HeatMap{"h", "head", "layer", {"0", "1"}, {"a", "b"}, {0.25, NAN, 1}, 0.0, 1.0, ""});
  EXPECT_NE(html.find("a, 0: 0.25"), std::string::npos);
  EXPECT_NE(html.find("a, 1: no value"), std::string::npos);
  EXPECT_NE(html.find("b, 1: no value"), std::string::npos);    // beyond the values
  const std::string layer = "backbone.stages.3.blocks.1.attn";  // deep layers differ in their names' middle
  EXPECT_EQ(
      times(block_drawing(HeatMap{"h", "head", "layer", {"0"}, {layer}, {1}, {}, {}, ""}), ">" + layer + "</text>"),
      1u);
  HeatMap large{"h", "", "", std::vector<std::string>(1000), std::vector<std::string>(1000), {}, {}, {}, ""};
  EXPECT_NE(block_drawing(large).find("Too many cells"), std::string::npos);
}

TEST(TableTest, OneOfFewRowsAndManyColumnsIsTurned) {
  Table table{"t", {{"run"}}, {{"a"}, {"b"}}, ""};
  for (int i = 1; i <= 9; ++i) {
    table.columns.push_back({"m" + std::to_string(i), Alignment::right, Better::lower});
    table.rows[0].push_back({"1", 1.0});
    table.rows[1].push_back({"2", 2.0});
  }
  const std::string turned = block_drawing(table);
  EXPECT_EQ(times(turned, "<tr>"), 1u + 9u);
  EXPECT_EQ(times(turned, "scope=\"row\""), 9u);
  EXPECT_EQ(times(turned, "best of this row"), 9u);
  table.columns.resize(8);
  EXPECT_EQ(times(block_drawing(table), "<tr>"), 1u + 2u);
}

TEST(CodeBlockTest, TextIsKeptAndSetApart) {
  const std::string html = block_drawing(CodeBlock{"r", "[model] # head\r\nname = \"a # b\" # note\n<b>\n\"k\" = 1"});
  EXPECT_NE(html.find("<b>[model] </b><s># head</s>\n<i>name </i>= &quot;a # b&quot; <s># note</s>\n&lt;b&gt;\n"),
            std::string::npos)
      << html;
}

}  // namespace
}  // namespace cachet::report
