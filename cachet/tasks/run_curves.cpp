#include "cachet/tasks/run_curves.h"

#include "cachet/tasks/series_names.h"

namespace cachet::tasks {

report::Series curve(const std::vector<train::Event>& events, train::Event::Kind kind, const std::string& metric,
                     const std::string& name) {
  report::Series series{name, {}, {}};
  for (const train::Event& event : events) {
    if (event.kind != kind) continue;
    auto value = event.metrics.find(metric);
    if (!value) value = event.machine.find(metric);
    if (!value) continue;
    series.x.push_back(static_cast<double>(event.step));
    series.y.push_back(*value);
  }
  return series;
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
