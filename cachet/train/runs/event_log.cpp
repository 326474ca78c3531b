#include "cachet/train/runs/event_log.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"

namespace cachet::train {
namespace {

using EventJson = nlohmann::ordered_json;

constexpr uint64_t kMaxBytes = uint64_t{1} << 34;
constexpr const char* kStepWord = "step";
constexpr const char* kEvaluationWord = "evaluation";

EventJson metrics_to_json(const Metrics& metrics) {
  EventJson json = EventJson::object();
  for (const auto& [name, value] : metrics) json[name] = value;  // NaN and infinities become null
  return json;
}

Metrics metrics_from(const io::JsonFields& json) {
  Metrics metrics;
  for (const std::string& name : json.keys()) metrics.set(name, json.number_or_nan(name));
  return metrics;
}

Event::Kind kind_from(const io::JsonFields& json) {
  const std::string word = json.text("kind");
  if (word == kStepWord) return Event::Kind::step;
  if (word != kEvaluationWord) json.fail("'kind' is " + io::in_quotes(word) + ", but must be 'step' or 'evaluation'");
  return Event::Kind::evaluation;
}

/// Nothing of a line that is damaged. Throws io::NewerSchema.
std::optional<Event> parse_event(std::string_view line, const std::string& name) {
  try {
    const io::JsonFields json(line, name);
    json.schema(1);
    Event event;
    event.kind = kind_from(json);
    event.step = json.count("step");
    event.epoch = json.count("epoch");
    event.metrics = metrics_from(json.object("metrics"));
    const io::JsonFields series = json.object("series");
    for (const std::string& each : series.keys()) event.series.push_back({each, series.numbers_or_nan(each)});
    event.machine = metrics_from(json.object("machine"));
    return event;
  } catch (const io::NewerSchema&) {
    throw;
  } catch (const io::Error&) {
    return std::nullopt;
  }
}

/// Calls `visit(event, end)` for each whole line, of a damaged one with nothing, until `visit` returns false. Returns
/// whether the file continues after the last whole line that was visited.
template <class Visit>
bool visit_events(const std::filesystem::path& path, Visit visit) {
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) return false;
  const std::string text = io::read_text_file(path, kMaxBytes);
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const std::optional<Event> event = parse_event(std::string_view(text).substr(begin, end - begin), path.string());
    begin = end + 1;
    if (!visit(event, begin)) break;
  }
  return begin < text.size();
}

}  // namespace

std::string to_json_line(const Event& event) {
  EventJson series = EventJson::object();
  for (const Series& one : event.series) series[one.name] = one.values;
  const EventJson json{{"schema", 1},
                       {"kind", event.kind == Event::Kind::step ? kStepWord : kEvaluationWord},
                       {"step", event.step},
                       {"epoch", event.epoch},
                       {"metrics", metrics_to_json(event.metrics)},
                       {"series", std::move(series)},
                       {"machine", metrics_to_json(event.machine)}};
  return json.dump() + "\n";
}

EventFile read_event_file(const std::filesystem::path& path) {
  EventFile file;
  file.is_torn = visit_events(path, [&](const std::optional<Event>& event, uint64_t) {
    if (event)
      file.events.push_back(*event);
    else
      ++file.damaged_lines;
    return true;
  });
  return file;
}

std::vector<Event> read_events(const std::filesystem::path& path) { return read_event_file(path).events; }

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string utc_text(double unix_time, const char* format) {
  const auto seconds = static_cast<std::time_t>(unix_time);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[40];
  std::strftime(text, sizeof text, format, &utc);
  return text;
}

RewoundEvents rewind_events(const std::filesystem::path& path, int64_t step, bool evaluated) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) return {};
  uint64_t kept = 0;
  RewoundEvents rewound;
  int64_t damaged = 0;
  visit_events(path, [&](const std::optional<Event>& event, uint64_t end) {
    if (!event) {
      ++damaged;
      return true;
    }
    const bool later = event->step > step;
    const bool undone = event->step == step && event->kind == Event::Kind::evaluation && !evaluated;
    if (later || undone) return false;
    kept = end;
    rewound.damaged_lines = damaged;
    return true;
  });
  if (kept < size) io::GrowingFile(path).cut(kept);
  rewound.bytes = size - kept;
  return rewound;
}

}  // namespace cachet::train
