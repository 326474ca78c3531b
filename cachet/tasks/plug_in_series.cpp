#include "cachet/tasks/plug_in_series.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "cachet/report/plug_in_sections.h"

namespace cachet::tasks {
namespace {

using report::Series;
using train::Event;

// Of things made one a layer, in the order in which layers are first named: that of the model.
template <class Layer>
class ByLayer {
 public:
  // The layer's, made where it is new.
  Layer& at(const std::string& name) {
    const auto [found, added] = index_.emplace(name, layers_.size());
    if (added) layers_.emplace_back();
    return layers_[found->second];
  }
  std::vector<Layer> take() && { return std::move(layers_); }

 private:
  std::vector<Layer> layers_;
  std::map<std::string, size_t> index_;
};

void add_point(Series& curve, int64_t step, double y) {
  curve.x.push_back(static_cast<double>(step));
  curve.y.push_back(y);
}

// σ(λ): a chart a layer, a line a head.
std::vector<report::LayerShares> shares_of(const std::vector<Event>& events) {
  ByLayer<report::LayerShares> layers;
  each_series(events, kShareSeries, [&](int64_t step, const std::string& name, const std::vector<double>& shares) {
    report::LayerShares& layer = layers.at(name);
    layer.layer = name;
    if (layer.heads.empty())
      for (size_t head = 0; head < shares.size(); ++head)
        layer.heads.push_back({"head " + std::to_string(head), {}, {}});
    for (size_t head = 0; head < std::min(layer.heads.size(), shares.size()); ++head)
      add_point(layer.heads[head], step, shares[head]);
  });
  return std::move(layers).take();
}

// A curve a cache. One that holds nothing by itself, since each stream has its own, has none.
std::vector<Series> cache_sizes_of(const std::vector<Event>& events) {
  ByLayer<Series> caches;
  each_series(events, kCacheSizeSeries, [&](int64_t step, const std::string& name, const std::vector<double>& values) {
    if (values.size() != 1 || values[0] == 0) return;
    Series& curve = caches.at(name);
    curve.name = name;
    add_point(curve, step, values[0]);
  });
  return std::move(caches).take();
}

// Steps of unified normalization, as [training steps, on window statistics, filtered].
std::vector<report::WindowStatistics> window_statistics_of(const std::vector<Event>& events) {
  ByLayer<report::WindowStatistics> layers;
  each_series(events, kUnifiedNormSeries,
              [&](int64_t step, const std::string& name, const std::vector<double>& values) {
                if (values.size() != 3) return;
                report::WindowStatistics& layer = layers.at(name);
                layer.layer = name;
                add_point(layer.window, step, values[1]);
                add_point(layer.filtered, step, values[2]);
              });
  each_series(events, kFilteredChannelsSeries,
              [&](int64_t step, const std::string& name, const std::vector<double>& values) {
                if (values.size() == 1) add_point(layers.at(name).channels, step, values[0]);
              });
  return std::move(layers).take();
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
  const auto add = [&](int64_t, const std::string&, const std::vector<double>& values) {
    if (values.size() != 3) return;
    use.steps += values[0];
    use.on_window += values[1];
    use.filtered += values[2];
    ++use.layers;
  };
  each_series(std::span(events).last(1), kUnifiedNormSeries, add);
  if (use.layers > 0) {
    use.steps /= static_cast<double>(use.layers);
    use.on_window /= static_cast<double>(use.layers);
  }
  return use;
}

}  // namespace cachet::tasks
