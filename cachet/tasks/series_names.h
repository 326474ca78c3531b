#pragma once

#include <string_view>

namespace cachet::tasks {

// How a run's metrics.jsonl names what ImageClassification::observe() tells; a layer's path follows.
inline constexpr std::string_view kShareSeries = "share/";     // σ(λ), a value a head
inline constexpr std::string_view kUnifiedNormSeries = "un/";  // training steps, those on window statistics, filtered

}  // namespace cachet::tasks
