#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"

/// Sections of a run's page about the plug-ins of its model.
namespace cachet::report {

/// The gates σ(λ) of one layer, as a series for each head over the steps of the run.
struct LayerShares {
  std::string layer;
  std::vector<Series> heads;
};

/// Returns the section with all layers' gates λ over time, a heat map of the last gates, the mean gate over each
/// layer's heads, and each cache's size (root mean square of values). `loss_is_nan`: whether the run's loss is NaN.
Section cache_section(const std::vector<LayerShares>& layers, const std::vector<Series>& sizes,
                      bool loss_is_nan = false);

/// Cumulative numbers of steps of a unified-normalisation layer: steps that used window statistics, and filtered steps.
struct WindowStatistics {
  std::string layer;
  Series window, filtered;
  /// If each channel has its own threshold, `channels` is the mean fraction of filtered channels over the steps so far,
  /// and `window` and `filtered` are means over the channels.
  Series channels{};
};

/// Returns the section about unified normalisation. In the charts, one curve represents all layers with equal counts.
Section unified_norm_section(const std::vector<WindowStatistics>& layers);

}  // namespace cachet::report
