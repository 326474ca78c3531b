#include "cachet/report/text/progress_line.h"

#include <algorithm>
#include <vector>

#include "cachet/report/format.h"
#include "cachet/report/text/ascii.h"
#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

constexpr int kShortestBar = 8, kLongestBar = 28;

struct ProgressField {
  std::string text;
  int importance;  // the greatest are shown first
};

std::string of_total(int64_t done, int64_t total) {
  const std::string text = std::to_string(done);
  return total > 0 ? text + "/" + std::to_string(total) : text;
}

// Values in the order in which they are read.
std::vector<ProgressField> value_fields(const ProgressState& state) {
  std::vector<ProgressField> fields;
  // The first two before all others; the rest where there is room left.
  for (size_t i = 0; i < state.metrics.size(); ++i)
    fields.push_back({state.metrics[i].title + " " + state.metrics[i].value, i < 2 ? 9 - static_cast<int>(i) : 1});
  if (state.learning_rate) fields.push_back({"lr " + format_number(*state.learning_rate, 3), 5});
  if (state.gradient_norm) fields.push_back({"grad " + format_number(*state.gradient_norm, 3), 4});
  if (state.rate) fields.push_back({format_count(*state.rate) + " " + state.rate_unit, 6});
  if (state.data_wait) fields.push_back({"wait " + format_percent(*state.data_wait, 0), 3});
  if (state.memory_bytes) fields.push_back({format_bytes(*state.memory_bytes), 2});
  return fields;
}

double share_done(const ProgressState& state) {
  return std::clamp(static_cast<double>(state.step) / state.steps, 0.0, 1.0);
}

std::string bar_of(double fraction, int width, const LineStyle& style) {
  std::string bar, rest;
  const int halves = static_cast<int>(fraction * width * 2);
  for (int i = 0; i < width; ++i) {
    const bool full = 2 * i + 1 < halves, half = 2 * i + 1 == halves;
    if (style.unicode) {
      (full || half ? bar : rest) += full ? "━" : half ? "╸" : "─";
    } else {
      (full || half ? bar : rest) += full ? "=" : half ? ">" : "-";
    }
  }
  return style.colour ? "\033[36m" + bar + "\033[90m" + rest + "\033[0m" : bar + rest;
}

}  // namespace

std::string bar_line(const ProgressState& state, std::optional<double> seconds_left, const LineStyle& style) {
  const auto spelled = [&](const std::string& text) { return style.unicode ? text : ascii_text(text); };
  const int columns = std::max(style.columns, 0);
  const std::string head = spelled(state.phase + (state.epoch > 0 ? " " + of_total(state.epoch, state.epochs) : ""));
  const std::string steps = state.step > 0 || state.steps > 0 ? of_total(state.step, state.steps) : "";
  const int least = display_width(head) + 2 + display_width(steps);
  if (columns < least + kShortestBar + 2) return fit_width(head + "  " + steps, columns, style.unicode ? U'…' : U'~');

  std::vector<ProgressField> fields = value_fields(state);
  if (seconds_left) fields.push_back({format_duration(*seconds_left) + " left", 7});
  for (ProgressField& field : fields) field.text = spelled(field.text);
  int room = columns - least - kShortestBar - 2;
  std::vector<size_t> order(fields.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return fields[a].importance > fields[b].importance; });
  // A field that finds no room keeps out those less important, so that the line does not flicker as numbers grow.
  std::vector<bool> shown(fields.size(), false);
  for (size_t i : order) {
    room -= display_width(fields[i].text) + 2;
    if (room < 0) break;
    shown[i] = true;
  }
  int used = least + 2;
  std::string values;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!shown[i]) continue;
    values += "  " + fields[i].text;
    used += display_width(fields[i].text) + 2;
  }
  if (state.steps == 0) return head + (steps.empty() ? "" : "  " + steps) + values;  // nobody knows how much there is
  const int width = std::min(columns - used, kLongestBar);
  return head + "  " + bar_of(share_done(state), width, style) + "  " + steps + values;
}

std::string plain_line(const ProgressState& state, std::optional<double> seconds_left) {
  std::string line = state.phase;
  if (state.epoch > 0) line += " epoch " + of_total(state.epoch, state.epochs);
  std::string separator = line == state.phase ? " " : ", ";
  if (state.step > 0 || state.steps > 0) line += separator + "step " + of_total(state.step, state.steps);
  for (const ProgressField& field : value_fields(state)) line += ", " + field.text;
  if (seconds_left) line += ", " + format_duration(*seconds_left) + " left";
  return line;
}

}  // namespace cachet::report
