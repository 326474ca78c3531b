#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/event_log.h"

namespace cachet::tasks {

/// The curve of one metric, of the model's or of the machine's, over the steps of the events of a kind; empty where
/// none has it.
report::Series curve(const std::vector<train::Event>& events, train::Event::Kind kind, const std::string& metric,
                     const std::string& name);

/// Steps of unified normalization by the last event: means over its layers of what observe() tells of each.
struct UnifiedNormUse {
  double steps = 0, on_window = 0;  // a layer
  double filtered = 0;              // of all layers together
  int64_t layers = 0;               // 0 where a model has none
};
UnifiedNormUse unified_norm_use(const std::vector<train::Event>& events);

}  // namespace cachet::tasks
