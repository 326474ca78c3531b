#include "cachet/tasks/plug_in_series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "cachet/report/page/plug_in_sections.h"
#include "cachet/tasks/normality_charts.h"

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

// A curve for each cache. If each session has its own cache, the layer holds none and has no curve.
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

// PNAC of a layer over the passes of training.
struct LayerNormality {
  std::string layer;
  Series activations{}, gradients{};
  int64_t passes = 0;
};

std::vector<LayerNormality> normality_of(const std::vector<Event>& events) {
  ByLayer<LayerNormality> layers;
  each_series(events, kNormalitySeries, [&](int64_t step, const std::string& name, const std::vector<double>& values) {
    if (values.size() != 3) return;
    LayerNormality& layer = layers.at(name);
    layer.layer = name;
    layer.passes = std::isfinite(values[2]) ? static_cast<int64_t>(values[2]) : 0;
    if (!layer.activations.x.empty() && layer.activations.x.back() == static_cast<double>(step))
      return;  // an evaluation
    add_point(layer.activations, step, values[0]);
    add_point(layer.gradients, step, values[1]);
  });
  return std::move(layers).take();
}

// The mean over the layers at each step that any of them has.
Series mean_over_layers(const std::string& name, const std::vector<LayerNormality>& layers,
                        Series LayerNormality::*which) {
  std::map<double, std::pair<double, int>> sums;
  for (const LayerNormality& layer : layers) {
    const Series& series = layer.*which;
    for (size_t i = 0; i < series.x.size(); ++i) {
      if (!std::isfinite(series.y[i])) continue;
      sums[series.x[i]].first += series.y[i];
      ++sums[series.x[i]].second;
    }
  }
  Series mean{name, {}, {}};
  for (const auto& [step, sum] : sums) {
    mean.x.push_back(step);
    mean.y.push_back(sum.first / sum.second);
  }
  return mean;
}

// Fig. 3 and 7 of Unified Normalization: over training, by layer, and as a density at the beginning and at the end.
report::Section normality_section(const std::vector<LayerNormality>& layers) {
  report::Section section{
      "Normality of the statistics",
      {},
      "Normal channels (PNAC): the fraction of a norm's channels whose statistics over the last " +
          std::to_string(layers.front().passes) +
          " training steps pass D'Agostino and Pearson's test of normality at level 0.05, recorded during training.",
      /*after_curves=*/true};
  const auto chart = [&](const std::string& title) {
    report::LineChart lines{title, "step", "normal channels"};
    lines.y_from_zero = true;
    return lines;
  };
  report::LineChart means = chart("Normal channels, mean over layers");
  for (const auto& [name, which] :
       {std::pair("activations", &LayerNormality::activations), std::pair("gradients", &LayerNormality::gradients)}) {
    if (Series mean = mean_over_layers(name, layers, which); !mean.x.empty()) means.series.push_back(std::move(mean));
  }
  section.blocks.push_back(means);
  for (const Series& mean : means.series) {
    report::LineChart by_layer = chart("Normal channels of the " + mean.name + " by layer");
    for (const LayerNormality& layer : layers) {
      Series series = mean.name == "activations" ? layer.activations : layer.gradients;
      series.name = layer.layer;
      by_layer.series.push_back(std::move(series));
    }
    section.blocks.push_back(std::move(by_layer));
  }
  if (means.series.empty()) return section;
  const std::vector<double>& steps = means.series.front().x;
  std::vector<double> ends{steps.front()};
  if (steps.size() > 1) ends.push_back(steps.back());
  for (const double step : ends) {
    std::vector<double> activations, gradients;
    for (const LayerNormality& layer : layers)
      for (size_t i = 0; i < layer.activations.x.size(); ++i) {
        if (layer.activations.x[i] != step) continue;
        activations.push_back(layer.activations.y[i]);
        gradients.push_back(layer.gradients.y[i]);
      }
    section.blocks.push_back(normality_density(std::string("Normal channels over layers, ") +
                                                   (step == ends.front() ? "first" : "last") + " record (step " +
                                                   std::to_string(static_cast<int64_t>(step)) + ")",
                                               activations, gradients));
  }
  return section;
}

bool has_nan_loss(const std::vector<Event>& events) {
  return std::ranges::any_of(events, [](const Event& event) {
    const auto loss = event.metrics.find("loss");
    return loss && std::isnan(*loss);
  });
}

}  // namespace

std::vector<report::Section> plug_in_sections(const std::vector<Event>& events, bool loss_is_nan) {
  std::vector<report::Section> sections;
  if (const auto layers = shares_of(events); !layers.empty())
    sections.push_back(report::cache_section(layers, cache_sizes_of(events), loss_is_nan || has_nan_loss(events)));
  if (const auto layers = window_statistics_of(events); !layers.empty())
    sections.push_back(report::unified_norm_section(layers));
  if (const auto layers = normality_of(events); !layers.empty()) sections.push_back(normality_section(layers));
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
