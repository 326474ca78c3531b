#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/runs/event_log.h"

namespace cachet::tasks {

// Names in a run's metrics.jsonl of the values that Task::observe() reports for plug-ins; a layer's path follows.
inline constexpr std::string_view kShareSeries = "share/";      // σ(λ), one value per head
inline constexpr std::string_view kCacheSizeSeries = "cache/";  // root mean square of the tokens in a cache
inline constexpr std::string_view kUnifiedNormSeries = "un/";   // steps of training, on window statistics, filtered
// If each channel has its own threshold: the fraction of channels filtered, mean over the training steps so far.
inline constexpr std::string_view kFilteredChannelsSeries = "un_channels/";
// If normality is recorded: the fraction of normal channels (PNAC) of a norm's statistics over its last training
// passes, the fraction for its gradients, and the number of these passes.
inline constexpr std::string_view kNormalitySeries = "pnac/";

/// Calls `take(step, layer, values)` for each series of this kind, in the order of the events.
template <class Function>
void each_series(std::span<const train::Event> events, std::string_view kind, const Function& take) {
  for (const train::Event& event : events)
    for (const train::Series& series : event.series)
      if (series.name.starts_with(kind)) take(event.step, series.name.substr(kind.size()), series.values);
}

/// Returns the sections of a run's page on these series; empty if the model has no such layers.
std::vector<report::Section> plug_in_sections(const std::vector<train::Event>& events, bool loss_is_nan = false);

/// Counts of steps of unified normalization up to the last event: means over its layers.
struct UnifiedNormUse {
  double steps = 0, on_window = 0;  // per layer
  double filtered = 0;              // of all layers together
  int64_t layers = 0;               // 0 if a model has none
};
UnifiedNormUse unified_norm_use(const std::vector<train::Event>& events);

}  // namespace cachet::tasks
