#include "cachet/train/tensorboard_log.h"

#include <cstdio>
#include <string_view>

#include "cachet/io/atomic_file.h"
#include "cachet/io/tensorboard_records.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using Scalars = std::vector<std::pair<std::string, double>>;

constexpr std::string_view kPrefix = "events.out.tfevents.", kSuffix = ".cachet";

double wall_time_of(const Event& event) { return event.machine.find(kUnixTime).value_or(0); }

std::string record_of(const Event& event) {
  const std::string kind = event.kind == Event::Kind::step ? "training/" : "evaluation/";
  Scalars scalars;
  for (const auto& [name, value] : event.metrics) scalars.emplace_back(kind + name, value);
  for (const Series& series : event.series) {
    for (size_t i = 0; i < series.values.size(); ++i)
      scalars.emplace_back(series.name + "/" + std::to_string(i), series.values[i]);
  }
  for (const auto& [name, value] : event.machine)
    if (name != kUnixTime) scalars.emplace_back("machine/" + name, value);
  return io::tensorboard_scalars(wall_time_of(event), event.step, scalars);
}

/// A reader that has seen steps behind the checkpoint forgets them at the start of the session.
std::string records_so_far(double now, const std::string& recipe, const std::vector<Event>& events) {
  const double start = events.empty() ? now : wall_time_of(events.front());
  std::string records = io::tensorboard_version(start) + io::tensorboard_session_start(start, 0) +
                        io::tensorboard_text(start, 0, "recipe", "```toml\n" + recipe + "\n```\n");
  for (const Event& event : events) records += record_of(event);
  return records;
}

void remove_earlier(const fs::path& run, const fs::path& kept) {
  std::vector<fs::path> earlier;
  for (const auto& entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix) && entry.path() != kept) earlier.push_back(entry.path());
  }
  for (const fs::path& path : earlier) fs::remove(path);
}

fs::path write_events_so_far(const fs::path& run, const std::string& recipe, const std::vector<Event>& events) {
  const double now = unix_time();
  char seconds[24];  // of one length, so that names sort by time
  std::snprintf(seconds, sizeof seconds, "%010.0f", now);
  const fs::path path = run / std::string(kPrefix).append(seconds).append(kSuffix);
  io::write_file_atomically(path, records_so_far(now, recipe, events));
  remove_earlier(run, path);
  return path;
}

}  // namespace

TensorBoardLog::TensorBoardLog(const fs::path& run, const std::string& recipe, const std::vector<Event>& events)
    : file_(write_events_so_far(run, recipe, events)) {}

void TensorBoardLog::append(const Event& event) { file_.append(record_of(event)); }

}  // namespace cachet::train
