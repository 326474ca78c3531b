#include "cachet/train/event_log.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "cachet/io/parse_json.h"
#include "cachet/io/read_file.h"

namespace cachet::train {
namespace {

using EventJson = nlohmann::ordered_json;

constexpr uint64_t kMostBytes = uint64_t{1} << 34, kMostSteps = uint64_t{1} << 53;

EventJson metrics_to_json(const Metrics& metrics) {
  EventJson json = EventJson::object();
  for (const auto& [name, value] : metrics) json[name] = value;  // NaN and infinities become null
  return json;
}

double number_from(const EventJson& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Metrics metrics_from(const EventJson& json) {
  Metrics metrics;
  for (const auto& [name, value] : json.items()) metrics.set(name, number_from(value));
  return metrics;
}

/// Throws where it is none: what is too large for its type would be something else.
int64_t natural(const EventJson& json) {
  if (!json.is_number_unsigned() || json.get<uint64_t>() > kMostSteps)
    throw EventJson::other_error::create(501, "no number of steps", &json);
  return json.get<int64_t>();
}

std::optional<Event> parse_event(std::string_view line) {
  try {
    const EventJson json = io::parse_json<EventJson>(line);
    if (json.at("schema") != 1) return std::nullopt;
    Event event;
    event.kind = json.at("kind") == "evaluation" ? Event::Kind::evaluation : Event::Kind::step;
    event.step = natural(json.at("step"));
    event.epoch = natural(json.at("epoch"));
    event.metrics = metrics_from(json.at("metrics"));
    for (const auto& [name, values] : json.at("series").items()) {
      Series series{name, {}};
      for (const EventJson& value : values) series.values.push_back(number_from(value));
      event.series.push_back(std::move(series));
    }
    event.machine = metrics_from(json.at("machine"));
    return event;
  } catch (const EventJson::exception&) {
    return std::nullopt;
  }
}

/// Calls `visit(event, end)` for each whole line, of a damaged one with nothing, until `visit` says no more. What
/// stands behind the last line's end is torn.
template <class Visit>
void visit_events(const std::filesystem::path& path, Visit visit) {
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) return;
  const std::string text = io::read_text_file(path, kMostBytes);
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const std::optional<Event> event = parse_event(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (!visit(event, begin)) return;
  }
}

}  // namespace

std::string to_json_line(const Event& event) {
  EventJson series = EventJson::object();
  for (const Series& one : event.series) series[one.name] = one.values;
  const EventJson json{{"schema", 1},
                       {"kind", event.kind == Event::Kind::step ? "step" : "evaluation"},
                       {"step", event.step},
                       {"epoch", event.epoch},
                       {"metrics", metrics_to_json(event.metrics)},
                       {"series", std::move(series)},
                       {"machine", metrics_to_json(event.machine)}};
  return json.dump() + "\n";
}

std::vector<Event> read_events(const std::filesystem::path& path) {
  std::vector<Event> events;
  visit_events(path, [&](const std::optional<Event>& event, uint64_t) {
    if (event) events.push_back(*event);
    return true;
  });
  return events;
}

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
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
