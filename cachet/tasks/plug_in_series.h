#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/runs/event_log.h"

namespace cachet::tasks {

// Names in a run's metrics.jsonl for the values that Task::observe() reports of plug-ins; a layer's path follows.
inline constexpr std::string_view kShareSeries = "share/";      // σ(λ), a value a head
inline constexpr std::string_view kCacheSizeSeries = "cache/";  // the root mean square of what a cache holds
inline constexpr std::string_view kUnifiedNormSeries = "un/";   // training steps, those on window statistics, filtered
// If each channel has its own threshold: the fraction of channels filtered, mean over the training steps so far.
inline constexpr std::string_view kFilteredChannelsSeries = "un_channels/";
// If they are recorded: the fraction of normal channels (PNAC) of a norm's statistics over its last training passes,
// that of its gradient's, and the number of these passes.
inline constexpr std::string_view kNormalitySeries = "pnac/";

/// Calls `take(step, layer, values)` for each series of such a kind, in the order of the events.
template <class Function>
void each_series(std::span<const train::Event> events, std::string_view kind, const Function& take) {
  for (const train::Event& event : events)
    for (const train::Series& series : event.series)
      if (series.name.starts_with(kind)) take(event.step, series.name.substr(kind.size()), series.values);
}

/// What the page of a run shows of them; nothing of a model without such layers.
std::vector<report::Section> plug_in_sections(const std::vector<train::Event>& events, bool loss_is_nan = false);

/// Steps of unified normalization by the last event: means over its layers.
struct UnifiedNormUse {
  double steps = 0, on_window = 0;  // a layer
  double filtered = 0;              // of all layers together
  int64_t layers = 0;               // 0 where a model has none
};
UnifiedNormUse unified_norm_use(const std::vector<train::Event>& events);

}  // namespace cachet::tasks
