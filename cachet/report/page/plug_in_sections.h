#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"

/// What the plug-ins of a model have to show on the page of a run.
namespace cachet::report {

/// σ(λ) of one layer: a series for each head, over the steps of the run.
struct LayerShares {
  std::string layer;
  std::vector<Series> heads;
};

/// Every layer's gates λ over time, their last values as a map, the mean of each layer's heads, and the size of each
/// cache's values (their root mean square), one series for each cache. `loss_is_nan`: of the run.
Section cache_section(const std::vector<LayerShares>& layers, const std::vector<Series>& sizes,
                      bool loss_is_nan = false);

/// Steps of one unified-normalisation layer that ran on window statistics, and those that were filtered, cumulative.
struct WindowStatistics {
  std::string layer;
  Series window, filtered;
  /// If each channel has its own threshold: the fraction of channels filtered, mean over the steps so far. The counts
  /// above are then means over channels.
  Series channels{};
};

/// Layers that counted the same are one line.
Section unified_norm_section(const std::vector<WindowStatistics>& layers);

}  // namespace cachet::report
