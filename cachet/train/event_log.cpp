#include "cachet/train/event_log.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

namespace cachet::train {
namespace {

using EventJson = nlohmann::ordered_json;

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

std::optional<Event> parse_event(const std::string& line) {
  try {
    const EventJson json = EventJson::parse(line);
    if (json.at("schema") != 1) return std::nullopt;
    Event event;
    event.kind = json.at("kind") == "evaluation" ? Event::Kind::evaluation : Event::Kind::step;
    json.at("step").get_to(event.step);
    json.at("epoch").get_to(event.epoch);
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

/// Calls `visit(event, end)` for each whole line until one is torn or damaged or `visit` says no more.
template <class Visit>
void visit_events(const std::filesystem::path& path, Visit visit) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  uint64_t end = 0;
  while (std::getline(file, line) && !file.eof()) {
    end += line.size() + 1;
    const std::optional<Event> event = parse_event(line);
    if (!event || !visit(*event, end)) return;
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
  visit_events(path, [&](const Event& event, uint64_t) {
    events.push_back(event);
    return true;
  });
  return events;
}

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

uint64_t rewind_events(const std::filesystem::path& path, int64_t step, bool evaluated) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) return 0;
  uint64_t kept = 0;
  visit_events(path, [&](const Event& event, uint64_t end) {
    const bool later = event.step > step;
    const bool undone = event.step == step && event.kind == Event::Kind::evaluation && !evaluated;
    if (later || undone) return false;
    kept = end;
    return true;
  });
  if (kept < size) std::filesystem::resize_file(path, kept);
  return size - kept;
}

}  // namespace cachet::train
