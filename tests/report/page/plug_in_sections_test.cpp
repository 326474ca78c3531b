#include "cachet/report/page/plug_in_sections.h"

#include <gtest/gtest.h>

#include "cachet/report/charts/axis.h"

namespace cachet::report {
namespace {

WindowStatistics counted_layer(const std::string& name, double window, double filtered) {
  return {name, {"", {0, 10, 20}, {0, window / 2, window}}, {"", {0, 10, 20}, {0, filtered / 2, filtered}}};
}

std::vector<std::string> names_of(const Block& block) {
  std::vector<std::string> names;
  for (const Series& series : std::get<LineChart>(block).series) names.push_back(series.name);
  return names;
}

TEST(UnifiedNormSection, LayersThatCountedTheSameAreOneLine) {
  const Section section = unified_norm_section(
      {counted_layer("a", 20, 0), counted_layer("b", 18, 0), counted_layer("c", 20, 0), counted_layer("d", 20, 0)});
  ASSERT_EQ(section.blocks.size(), 2u);
  EXPECT_EQ(names_of(section.blocks[0]), (std::vector<std::string>{"a and 2 more", "b"}));
  EXPECT_EQ(names_of(section.blocks[1]), (std::vector<std::string>{"all 4 layers"}));
  EXPECT_EQ(std::get<LineChart>(section.blocks[0]).note, "");
  EXPECT_EQ(std::get<LineChart>(section.blocks[1]).note, "One line for all 4 layers, because their counts are equal.");
  EXPECT_EQ(names_of(unified_norm_section({counted_layer("a", 20, 0)}).blocks[0]), (std::vector<std::string>{"a"}));
}

TEST(UnifiedNormSection, ACounterThatStaysZeroHasNoNegativeAxis) {
  const Section section = unified_norm_section({counted_layer("a", 20, 0)});
  const auto& filtered = std::get<LineChart>(section.blocks[1]);
  const Axis axis = y_axis({drawn_series(filtered.series[0], 100)}, false, filtered.y_from_zero);
  EXPECT_EQ(axis.least, 0);
  EXPECT_GT(axis.most, 0);
}

TEST(UnifiedNormSection, ShowsTheFractionOfChannelsOfLayersThatFilterChannels) {
  WindowStatistics by_channel = counted_layer("b", 17.5, 2.5);
  by_channel.channels = {"", {10, 20}, {0.1, 0.125}};
  const Section section = unified_norm_section({counted_layer("a", 20, 0), by_channel});
  ASSERT_EQ(section.blocks.size(), 3u);
  const auto& chart = std::get<LineChart>(section.blocks[2]);
  EXPECT_EQ(chart.title, "Channels filtered");
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].name, "b");
  EXPECT_EQ(chart.series[0].y, (std::vector<double>{0.1, 0.125}));
}

TEST(CacheSection, ReportsANaNOnlyIfThereIsOne) {
  const std::vector<LayerShares> layers{{"a", {{"head 0", {1, 2}, {0.5, 0.4}}}}};
  const std::vector<Series> sizes{{"a", {1, 2}, {0.1, 0.2}}};
  const auto note = [&](bool is_nan) {
    return std::get<LineChart>(cache_section(layers, sizes, is_nan).blocks.back()).note;
  };
  EXPECT_EQ(note(false).find("NaN"), std::string::npos) << note(false);
  EXPECT_NE(note(true).find("The loss of this run is NaN."), std::string::npos) << note(true);
}

}  // namespace
}  // namespace cachet::report
