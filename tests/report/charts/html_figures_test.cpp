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

TEST(LineChartTest, NoisyCurvesAreDrawnAsTheirValues) {
  Series noise{"a", {}, {}};
  for (int i = 0; i < 150; ++i) {
    noise.x.push_back(i);
    noise.y.push_back(i % 2);
  }
  const std::string html = block_drawing(LineChart{"c", "x", "y", {noise}});
  EXPECT_EQ(times(html, "<path class=\"curve"), 1u) << "the values, not means of them";
  const size_t path = html.find("<path class=\"curve noise\" d=\"");
  ASSERT_NE(path, std::string::npos);
  EXPECT_EQ(times(html.substr(path, html.find("/>", path) - path), "L"), 149u);
}

TEST(LineChartTest, MarksAreVerticalLinesWithinTheAxis) {
  LineChart chart{"c", "x", "y", {{"a", {1, 2, 3}, {1, 2, 3}}}};
  EXPECT_EQ(times(block_drawing(chart), "class=\"mark\""), 0u);
  chart.marks = {2, 7};
  EXPECT_EQ(times(block_drawing(chart), "class=\"mark\""), 2u);
  EXPECT_EQ(x_axis({drawn_series(chart.series[0], 9)}, chart.marks).most, 7);
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

TEST(LineChartTest, OnePointIsANumber) {
  LineChart chart{"Top-1", "step", "%", {{"training", {4}, {21.25}}, {"test", {4}, {25}}, {"none", {}, {}}}};
  chart.large = true;
  const std::string html = block_drawing(chart);
  EXPECT_EQ(times(html, "<svg"), 0u) << html;
  EXPECT_NE(html.find(">21.25 %<"), std::string::npos) << html;
  EXPECT_NE(html.find("test, step 4"), std::string::npos) << html;
  EXPECT_EQ(times(html, "class=\"value\""), 2u);
  chart.series[1].x = {4, 8};
  chart.series[1].y = {25, 30};
  EXPECT_GT(times(block_drawing(chart), "<svg"), 0u) << "one of two curves has two points";
  EXPECT_FALSE(has_one_point(LineChart{"c", "x", "y", {{"a", {1}, {NAN}}}})) << "what is not finite is marked";
  EXPECT_FALSE(has_one_point(LineChart{"c", "x", "y", {}}));
  const SmallMultiples multiples{"m", {{"p", "x", "y", {{"a", {1}, {2}}, {"b", {1}, {3}}}}}, true, ""};
  EXPECT_EQ(times(block_drawing(multiples), "<svg"), 0u);
}

TEST(LineChartTest, ALargeOneIsDrawnForWideAndForNarrowWindows) {
  LineChart chart{"c", "step", "", {{"a", {1, 2, 3}, {2, 2.5, 3}}}};
  EXPECT_EQ(times(block_drawing(chart), "<svg class=\"plot"), 1u);
  chart.large = true;
  const std::string html = block_drawing(chart);
  EXPECT_EQ(times(html, "<svg class=\"plot"), 2u);
  EXPECT_EQ(times(html, "class=\"on-wide\""), 1u);
  EXPECT_EQ(times(html, "class=\"on-narrow\""), 1u);
}

TEST(LineChartTest, AxesEndWhereTheDataEnds) {
  const std::vector<DrawnSeries> series{drawn_series({"a", {3, 7}, {0.25, 1}}, 100)};
  EXPECT_EQ(x_axis(series).least, 3);
  EXPECT_EQ(x_axis(series).most, 7);
  EXPECT_EQ(y_axis(series, false, false).least, 0.25);
  EXPECT_EQ(y_axis(series, false, false).most, 1);
  EXPECT_EQ(y_axis(series, false, true).least, 0);
  EXPECT_EQ(y_axis(series, true, false).most, 1);
}

TEST(LineChartTest, AnAxisOfEqualValuesEndsAtTheValue) {
  const auto axis = [](double value) {
    return y_axis({drawn_series({"a", {1, 2}, {value, value}}, 100)}, false, false);
  };
  EXPECT_EQ(axis(1).least, 0.5);
  EXPECT_EQ(axis(1).most, 1) << "a fraction is at most 1";
  EXPECT_EQ(axis(-4).least, -4);
  EXPECT_EQ(axis(-4).most, -2);
}

TEST(LineChartTest, LabelsOfTicksHaveRoom) {
  const LineChart chart{"c", "step", "", {{"a", {1, 2}, {0.49908, 0.49914}}}};
  const std::vector<DrawnSeries> series{drawn_series(chart.series[0], 100)};
  const PlotSize size;
  const Axis y = y_axis(series, false, false);
  size_t longest = 0;
  for (const std::string& label : y.ticks(size.y_ticks).labels) longest = std::max(longest, label.size());
  EXPECT_GE(longest, 7u);
  EXPECT_GE(plot_frame(chart, x_axis(series), y, size).left, size.letter * static_cast<double>(longest));
}

TEST(ChartFoldTest, HoldsSmallChartsWithLegendsOfTheirOwn) {
  const LineChart two{"Loss", "step", "", {{"training", {1, 2}, {2, 1}}, {"test", {1, 2}, {2, 1}}}};
  const LineChart one{"Learning rate", "step", "", {{"rate", {1}, {0.5}}}};
  const std::string html = block_drawing(ChartFold{"More curves", {two, one}});
  EXPECT_EQ(html.find("<details"), 0u);
  EXPECT_EQ(times(html, "<figure class=\"chart small\""), 2u);
  EXPECT_EQ(times(html, "class=\"key\""), 2u);
  EXPECT_EQ(times(html, "class=\"numbers\""), 1u);
}

TEST(HeatMapTest, SquareCellsAndNamesThatLean) {
  HeatMap map{"h", "layer", "layer", {"blocks.0.norm1", "blocks.0.attn"}, {"a", "b"}, {1, 0.9, 0.9, 1}, {}, {}, ""};
  map.columns.resize(12, "blocks.1.norm1");
  map.square = true;
  const std::string html = block_drawing(map);
  EXPECT_EQ(times(html, ">blocks.1.norm1</text>"), 10u) << "whole, as they lean";
  EXPECT_EQ(times(html, "rotate(-42)"), 12u);
  const size_t cell = html.find("<rect class=\"heat");
  const auto number = [&](const std::string& name) {
    const size_t at = html.find(" " + name + "=\"", cell) + name.size() + 3;
    return html.substr(at, html.find('"', at) - at);
  };
  EXPECT_EQ(number("width"), number("height"));
}

/// The pixels of a map's height at its largest.
double greatest_height(const HeatMap& map) {
  const std::string html = block_drawing(map);
  const auto number = [&](const std::string& before) {
    return std::stod(html.substr(html.find(before) + before.size()));
  };
  const std::string box = "viewBox=\"0 0 ";
  const double width = number(box);
  const size_t height = html.find(' ', html.find(box) + box.size());
  return number("max-width:") / width * std::stod(html.substr(height));
}

TEST(HeatMapTest, ASmallMapOfLayersNamesAllColumnsAndTheOneValueOnce) {
  HeatMap map{
      "h",    "layer", "layer", {"blocks.0", "blocks.1"}, {"blocks.0", "blocks.1"}, {1, 0.9021, 0.9021, 1}, 0.9021,
      0.9021, "",      true};
  std::string html = block_drawing(map);
  EXPECT_EQ(times(html, ">blocks.1</text>"), 2u) << "of the row and of the column";
  EXPECT_EQ(times(html, ">0.902</text>"), 1u) << "a scale of one value";
  EXPECT_EQ(times(html, "class=\"heat outside\""), 2u) << "1 lies beyond the scale and has none of its colours";
  EXPECT_EQ(times(html, ">1.00</text>"), 2u);
  map.values = {1, 0.90211, 0.90234, 1};
  map.least = 0.90211, map.most = 0.90234;
  html = block_drawing(map);
  EXPECT_EQ(times(html, ">0.9021</text>"), 1u);
  EXPECT_EQ(times(html, ">0.9023</text>"), 1u);
  map.values = {1, 1, 1, 1};
  map.least = 1, map.most = 1 + 1e-12;
  EXPECT_EQ(times(block_drawing(map), "</text>"), 10u) << "names, cells, axes and one end";
  for (const size_t length : {7u, 8u, 9u}) {  // of names about as long as a cell
    map.columns = {std::string(length, 'a'), std::string(length, 'b')};
    EXPECT_EQ(times(block_drawing(map), ">" + map.columns[1] + "</text>"), 1u) << length;
  }
}

TEST(HeatMapTest, ASquareMapFitsAScreen) {
  for (const size_t size : {2u, 17u, 32u, 33u, 48u, 140u}) {
    HeatMap map{"h", "slot", "slot", {}, {}, {}, {}, {}, "", true};
    for (size_t i = 0; i < size; ++i) map.columns.push_back(std::to_string(i));
    map.rows = map.columns;
    EXPECT_LT(greatest_height(map), 720) << size;
  }
}

TEST(HeatMapTest, ManyColumnsAreLinesOfNumbers) {
  HeatMap map{"h", "place", "place", {}, {"first"}, {}, {}, {}, ""};
  for (int i = 0; i < 12; ++i) {
    map.columns.push_back(std::to_string(i));
    map.values.push_back(i);
  }
  EXPECT_NE(block_drawing(map).find("<td class=\"text\">0  1  2  3"), std::string::npos);
}

TEST(TableTest, ANarrowWindowNamesTheCells) {
  Table table{"t", {{"class"}, {"recall", Alignment::right}, {"precision", Alignment::right}}, {{"cat", "1", "2"}}, ""};
  EXPECT_EQ(times(block_drawing(table), "data-label=\"recall\""), 1u);
  EXPECT_EQ(times(block_drawing(table), "<table class=\"stacked\""), 1u);
  table.columns.resize(2);
  table.rows = {{"signature", "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.4.0"}};
  EXPECT_EQ(times(block_drawing(table), "data-label"), 0u) << "two columns have room";
  EXPECT_EQ(times(block_drawing(table), "<td class=\"number long\""), 1u) << "a long one may be broken";
}

TEST(ImageGridTest, NamesBreakAfterDotsAlone) {
  ImageGrid grid{"g", {{"", "blocks.0.attn o_self", "blocks.0.attn o_self"}}, "", PictureSize::maps};
  const std::string html = block_drawing(grid);
  EXPECT_NE(html.find("blocks.0.<wbr/>attn o_self"), std::string::npos) << html;
  EXPECT_NE(html.find("pictures maps wide"), std::string::npos);
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
