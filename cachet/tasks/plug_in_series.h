#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/runs/event_log.h"

namespace cachet::tasks {

// Names of series in a run's metrics.jsonl. Task::observe() measures these series for the plug-ins of a model. In
// metrics.jsonl, the path of a layer follows the name of a plug-in series.
inline constexpr std::string_view kShareSeries = "share/";      // σ(λ), one value per head
inline constexpr std::string_view kCacheSizeSeries = "cache/";  // root mean square of the tokens in a cache
inline constexpr std::string_view kUnifiedNormSeries = "un/";   // numbers of steps: all, on window statistics, filtered
// The fraction of channels that the outlier filter filtered, averaged over the training steps so far. The series
// un_channels/ exists only if each channel has its own threshold.
inline constexpr std::string_view kFilteredChannelsSeries = "un_channels/";
// Three values: the fraction of normal channels (PNAC) of a norm's statistics over its last training passes, the same
// fraction for its gradients, and the number of these passes. Task::record_normality() turns this series on.
inline constexpr std::string_view kNormalitySeries = "pnac/";

/// Calls `take(step, layer, values)` for each series whose name begins with `kind`, in the order of the events.
template <class Function>
void each_series(std::span<const train::Event> events, std::string_view kind, const Function& take) {
  for (const train::Event& event : events)
    for (const train::Series& series : event.series)
      if (series.name.starts_with(kind)) take(event.step, series.name.substr(kind.size()), series.values);
}

/// Returns the sections of a run's page that show the plug-in series (values of norms, caches and attention layers). If
/// no layer of the model has a plug-in series, the list is empty.
std::vector<report::Section> plug_in_sections(const std::vector<train::Event>& events, bool loss_is_nan = false);

/// Counters of a model's unified norms (such as the number of their training steps) at the last event.
struct UnifiedNormUse {
  double steps = 0, on_window = 0;  // means over the layers
  double filtered = 0;              // sum over all layers
  int64_t layers = 0;               // 0 if a model has none
};
UnifiedNormUse unified_norm_use(const std::vector<train::Event>& events);

}  // namespace cachet::tasks
