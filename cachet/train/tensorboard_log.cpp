#include "cachet/train/tensorboard_log.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "cachet/io/atomic_file.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.", kSuffix = ".cachet";

double wall_time_of(const Event& event) { return event.machine.find(kUnixTime).value_or(0); }

/// "pixels; lower is better"
std::string text_of(const report::MetricDescription& metric) {
  if (metric.better == report::Better::neither) return metric.unit;
  return metric.unit + (metric.unit.empty() ? "" : "; ") + std::string(report::word(metric.better)) + " is better";
}

void remove_earlier(const fs::path& run, const fs::path& kept) {
  std::vector<fs::path> earlier;
  for (const auto& entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix) && entry.path() != kept) earlier.push_back(entry.path());
  }
  for (const fs::path& path : earlier) fs::remove(path);
}

}  // namespace

TensorBoardLog::TensorBoardLog(const fs::path& run, const std::string& recipe,
                               const std::vector<report::MetricDescription>& metrics, const std::vector<Event>& events)
    : metrics_(metrics), file_(write_so_far(run, recipe, events)) {}

void TensorBoardLog::append(const Event& event) { file_.append(record_of(event)); }

io::TensorBoardScalar TensorBoardLog::scalar_of(const std::string& kind, const std::string& name, double value) {
  io::TensorBoardScalar scalar{kind + "/" + name, value};
  const auto metric = std::ranges::find(metrics_, name, &report::MetricDescription::name);
  if (metric == metrics_.end() || !described_.insert(scalar.tag).second) return scalar;
  scalar.title = kind + "/" + metric->title;
  scalar.description = text_of(*metric);
  return scalar;
}

std::string TensorBoardLog::record_of(const Event& event) {
  const std::string kind = event.kind == Event::Kind::step ? "training" : "evaluation";
  std::vector<io::TensorBoardScalar> scalars;
  for (const auto& [name, value] : event.metrics) scalars.push_back(scalar_of(kind, name, value));
  for (const Series& series : event.series) {
    for (size_t i = 0; i < series.values.size(); ++i)
      scalars.push_back({series.name + "/" + std::to_string(i), series.values[i]});
  }
  for (const auto& [name, value] : event.machine)
    if (name != kUnixTime) scalars.push_back({"machine/" + name, value});
  return io::tensorboard_scalars(wall_time_of(event), event.step, scalars);
}

// A reader that has seen steps behind the checkpoint forgets them at the start of the session.
fs::path TensorBoardLog::write_so_far(const fs::path& run, const std::string& recipe,
                                      const std::vector<Event>& events) {
  const double now = unix_time();
  const double start = events.empty() ? now : wall_time_of(events.front());
  std::string records = io::tensorboard_version(start) + io::tensorboard_session_start(start, 0) +
                        io::tensorboard_text(start, 0, "recipe", "```toml\n" + recipe + "\n```\n");
  for (const Event& event : events) records += record_of(event);
  char seconds[24];  // of one length, so that names sort by time
  std::snprintf(seconds, sizeof seconds, "%010.0f", now);
  const fs::path path = run / std::string(kPrefix).append(seconds).append(kSuffix);
  io::write_file_atomically(path, records);
  remove_earlier(run, path);
  return path;
}

}  // namespace cachet::train
