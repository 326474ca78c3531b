#include "cachet/report/page/plug_in_sections.h"

#include <algorithm>

#include "cachet/report/charts/equal_series.h"

namespace cachet::report {
namespace {

// A curve for each layer: the mean over its heads, at the steps that all of them have.
LineChart mean_shares(const std::vector<LayerShares>& layers) {
  LineChart chart{"σ(λ), mean of a layer's heads", "step", "σ(λ)"};
  for (const LayerShares& layer : layers) {
    Series mean{layer.layer, {}, {}};
    if (!layer.heads.empty()) mean.x = layer.heads[0].x;
    for (const Series& head : layer.heads) mean.x.resize(std::min({mean.x.size(), head.x.size(), head.y.size()}));
    for (size_t i = 0; i < mean.x.size(); ++i) {
      double sum = 0;
      for (const Series& head : layer.heads) sum += head.y[i];
      mean.y.push_back(sum / static_cast<double>(layer.heads.size()));
    }
    chart.series.push_back(std::move(mean));
  }
  return chart;
}

}  // namespace

Section cache_section(const std::vector<LayerShares>& layers, const std::vector<Series>& sizes, bool loss_is_nan) {
  Section section{
      "Caches",
      {},
      "The gate σ(λ) is the weight of memory attention in a head's output. At 0, the head has only self-attention.",
      /*after_curves=*/true};
  SmallMultiples over_time{"σ(λ) per layer and head", {}, true, ""};
  HeatMap final{"σ(λ) at the last step", "head", "layer", {}, {}, {}, 0.0, 1.0, ""};
  size_t heads = 0;
  for (const LayerShares& layer : layers) heads = std::max(heads, layer.heads.size());
  for (size_t head = 0; head < heads; ++head) final.columns.push_back(std::to_string(head));
  for (const LayerShares& layer : layers) {
    over_time.charts.push_back({layer.layer, "step", "σ(λ)", layer.heads});
    final.rows.push_back(layer.layer);
    for (size_t head = 0; head < heads; ++head) {
      const bool known = head < layer.heads.size() && !layer.heads[head].y.empty();
      final.values.push_back(known ? layer.heads[head].y.back() : std::numeric_limits<double>::quiet_NaN());
    }
  }
  section.blocks = {std::move(over_time), std::move(final), mean_shares(layers)};
  if (sizes.empty()) return section;
  LineChart held{"Values in each cache, root mean square", "step", "root mean square", sizes};
  held.log_y = true;
  held.note = "A cache whose values grow without end overflows float32.";
  if (loss_is_nan) held.note += " The loss of this run is NaN.";
  section.blocks.push_back(std::move(held));
  return section;
}

Section unified_norm_section(const std::vector<WindowStatistics>& layers) {
  Section section{"Unified normalization", {}, "Training steps of each layer, cumulative.", /*after_curves=*/true};
  LineChart window{"Steps on window statistics", "step", "steps"}, filtered{"Steps filtered", "step", "steps"};
  window.y_from_zero = filtered.y_from_zero = true;
  for (const WindowStatistics& layer : layers) {
    const auto named = [&](Series series) {
      series.name = layer.layer;
      return series;
    };
    window.series.push_back(named(layer.window));
    filtered.series.push_back(named(layer.filtered));
  }
  for (LineChart* chart : {&window, &filtered}) {
    chart->series = equal_series_joined(chart->series, "layers");
    if (chart->series.size() == 1 && layers.size() > 1)  // one line alone has no legend
      chart->note = "One line for " + chart->series.front().name + ", because their counts are equal.";
  }
  section.blocks = {std::move(window), std::move(filtered)};
  LineChart channels{"Channels filtered", "step", "fraction"};
  channels.y_from_zero = true;
  channels.note = "Mean over all training steps so far. Each channel has its own threshold (threshold = \"channel\").";
  for (const WindowStatistics& layer : layers)
    if (!layer.channels.y.empty()) channels.series.push_back({layer.layer, layer.channels.x, layer.channels.y});
  if (!channels.series.empty()) section.blocks.push_back(std::move(channels));
  return section;
}

}  // namespace cachet::report
