#include "cachet/tasks/plug_in_series.h"

#include <algorithm>
#include <map>
#include <string>

#include "cachet/report/plug_in_sections.h"

namespace cachet::tasks {
namespace {

using report::Series;
using train::Event;

// σ(λ): a chart a layer, a line a head. The events name the layers in the order of the model.
std::vector<report::LayerShares> shares_of(const std::vector<Event>& events) {
  std::vector<report::LayerShares> layers;
  std::map<std::string, size_t> index;
  for (const Event& event : events)
    for (const auto& series : event.series) {
      if (!series.name.starts_with(kShareSeries)) continue;
      const auto [found, added] = index.emplace(series.name, layers.size());
      if (added) {
        layers.push_back({series.name.substr(kShareSeries.size()), {}});
        for (size_t head = 0; head < series.values.size(); ++head)
          layers.back().heads.push_back({"head " + std::to_string(head), {}, {}});
      }
      auto& heads = layers[found->second].heads;
      for (size_t head = 0; head < std::min(heads.size(), series.values.size()); ++head) {
        heads[head].x.push_back(static_cast<double>(event.step));
        heads[head].y.push_back(series.values[head]);
      }
    }
  return layers;
}

// A curve a cache. One that holds nothing by itself, since each stream has its own, has none.
std::vector<Series> cache_sizes_of(const std::vector<Event>& events) {
  std::vector<Series> caches;
  std::map<std::string, size_t> index;
  for (const Event& event : events)
    for (const auto& series : event.series) {
      if (!series.name.starts_with(kCacheSizeSeries) || series.values.size() != 1 || series.values[0] == 0) continue;
      const auto [found, added] = index.emplace(series.name, caches.size());
      if (added) caches.push_back({series.name.substr(kCacheSizeSeries.size()), {}, {}});
      caches[found->second].x.push_back(static_cast<double>(event.step));
      caches[found->second].y.push_back(series.values[0]);
    }
  return caches;
}

// Steps of unified normalization, as [training steps, on window statistics, filtered].
std::vector<report::WindowStatistics> window_statistics_of(const std::vector<Event>& events) {
  std::vector<report::WindowStatistics> layers;
  std::map<std::string, size_t> index;
  for (const Event& event : events)
    for (const auto& series : event.series) {
      if (!series.name.starts_with(kUnifiedNormSeries) || series.values.size() != 3) continue;
      const auto [found, added] = index.emplace(series.name, layers.size());
      if (added) layers.push_back({series.name.substr(kUnifiedNormSeries.size()), {}, {}});
      auto& layer = layers[found->second];
      for (auto& [curve, value] : {std::pair<Series&, double>(layer.window, series.values[1]),
                                   std::pair<Series&, double>(layer.filtered, series.values[2])}) {
        curve.x.push_back(static_cast<double>(event.step));
        curve.y.push_back(value);
      }
    }
  return layers;
}

}  // namespace

std::vector<report::Section> plug_in_sections(const std::vector<Event>& events) {
  std::vector<report::Section> sections;
  if (const auto layers = shares_of(events); !layers.empty())
    sections.push_back(report::cache_section(layers, cache_sizes_of(events)));
  if (const auto layers = window_statistics_of(events); !layers.empty())
    sections.push_back(report::unified_norm_section(layers));
  return sections;
}

UnifiedNormUse unified_norm_use(const std::vector<train::Event>& events) {
  UnifiedNormUse use;
  if (events.empty()) return use;
  for (const train::Series& series : events.back().series) {
    if (!series.name.starts_with(kUnifiedNormSeries) || series.values.size() != 3) continue;
    use.steps += series.values[0];
    use.on_window += series.values[1];
    use.filtered += series.values[2];
    ++use.layers;
  }
  if (use.layers > 0) {
    use.steps /= static_cast<double>(use.layers);
    use.on_window /= static_cast<double>(use.layers);
  }
  return use;
}

}  // namespace cachet::tasks
