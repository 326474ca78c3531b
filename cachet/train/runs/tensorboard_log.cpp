#include "cachet/train/runs/tensorboard_log.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxEventBytes = uint64_t{1} << 34;
constexpr std::string_view kEventPrefix = "events.out.tfevents.", kEventSuffix = ".cachet";

double wall_time_of(const Event& event) { return event.machine.find(kUnixTime).value_or(0); }

/// "pixels; lower is better"
std::string text_of(const report::MetricDescription& metric) {
  if (metric.better == report::Better::neither) return metric.unit;
  return metric.unit + (metric.unit.empty() ? "" : "; ") + std::string(report::to_string(metric.better)) + " is better";
}

/// The files of earlier parts of the run, in their order.
std::vector<fs::path> earlier_files(const fs::path& run) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kEventPrefix) && name.ends_with(kEventSuffix)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// A path that comes after those of earlier parts, also if they began within the same second or the clock was set back.
fs::path next_path(const fs::path& run, const std::vector<fs::path>& earlier) {
  constexpr size_t kDigits = 10;  // names of one length sort by time
  auto seconds = static_cast<int64_t>(unix_time());
  if (!earlier.empty()) {
    const std::string name = earlier.back().filename().string();
    const std::string_view digits = std::string_view(name).substr(kEventPrefix.size()).substr(0, kDigits);
    int64_t last = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), last).ec == std::errc())
      seconds = std::max(seconds, last + 1);
  }
  char digits[24];
  std::snprintf(digits, sizeof digits, "%0*lld", static_cast<int>(kDigits), static_cast<long long>(seconds));
  return run / std::string(kEventPrefix).append(digits).append(kEventSuffix);
}

/// Whether the files have all events before a step. Each part has, as long as it logs, so the last one decides.
bool have_all_before(const std::vector<fs::path>& files, const std::vector<Event>& events, int64_t step) {
  if (files.empty()) return false;
  const auto is_before = [&](const Event& event) { return event.step < step; };
  const auto last = std::find_if(events.rbegin(), events.rend(), is_before);
  if (last == events.rend()) return true;
  try {
    const std::string file = io::read_text_file(files.back(), kMaxEventBytes);
    return io::last_tensorboard_step(file).value_or(-1) >= last->step;
  } catch (const io::Error&) {
    return false;
  }
}

}  // namespace

TensorBoardLog::TensorBoardLog(const fs::path& run, const std::string& recipe,
                               const std::vector<report::MetricDescription>& metrics, const std::vector<Event>& events,
                               int64_t resumed_at)
    : metrics_(metrics), file_(begin_file(run, recipe, events, resumed_at)) {}

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
  // A run that is evaluated at a step reports its seconds, and the signals of its layers, with the step and once more
  // with the evaluation.
  std::erase_if(scalars, [&](const io::TensorBoardScalar& scalar) {
    const auto [last, is_new] = last_step_.try_emplace(scalar.tag, event.step);
    return !is_new && std::exchange(last->second, event.step) == event.step;
  });
  return io::tensorboard_scalars(wall_time_of(event), event.step, scalars);
}

fs::path TensorBoardLog::begin_file(const fs::path& run, const std::string& recipe, const std::vector<Event>& events,
                                    int64_t resumed_at) {
  const std::vector<fs::path> earlier = earlier_files(run);
  const bool continues = resumed_at > 0 && have_all_before(earlier, events, resumed_at);
  const int64_t first_step = continues ? resumed_at : 0;
  const double now = unix_time();
  const double start = continues || events.empty() ? now : wall_time_of(events.front());
  std::string records = io::tensorboard_version(start) + io::tensorboard_session_start(start, first_step);
  if (!continues) records += io::tensorboard_text(start, 0, "recipe", "```toml\n" + recipe + "\n```\n");
  for (const Event& event : events)
    if (event.step >= first_step) records += record_of(event);
  fs::path path = next_path(run, earlier);
  io::write_file_atomically(path, records);
  return path;
}

}  // namespace cachet::train
