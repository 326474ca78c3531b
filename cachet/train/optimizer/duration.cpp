#include "cachet/train/optimizer/duration.h"

#include <charconv>
#include <limits>
#include <optional>

namespace cachet::train {
namespace {

std::optional<Duration> parse_duration(std::string_view text) {
  Duration duration;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), duration.count);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit == " step" || unit == " steps") {
    duration.unit = Duration::Unit::steps;
  } else if (unit == " epoch" || unit == " epochs") {
    duration.unit = Duration::Unit::epochs;
  } else {
    return std::nullopt;
  }
  return duration;
}

void refuse_span(const config::View& view, std::string_view key, const std::string& text, int64_t least) {
  view.problem(key, "\"" + text + "\" is not a duration of training; set a number of at least " +
                        std::to_string(least) + " with a unit, such as \"500 steps\" or \"3 epochs\"");
}

}  // namespace

int64_t Duration::steps(int64_t steps_per_epoch) const {
  if (unit == Unit::steps) return count;
  int64_t product = 0;
  if (__builtin_mul_overflow(count, steps_per_epoch, &product)) return std::numeric_limits<int64_t>::max();
  return product;
}

std::string Duration::text() const {
  return std::to_string(count) + (unit == Unit::steps ? " step" : " epoch") + (count == 1 ? "" : "s");
}

Duration read_duration(const config::View& view, std::string_view key, Duration fallback, int64_t least) {
  const std::string text = view.text(key, fallback.text());
  const std::optional<Duration> duration = parse_duration(text);
  if (duration && duration->count >= least) return *duration;
  refuse_span(view, key, text, least);
  return fallback;
}

std::vector<Duration> read_durations(const config::View& view, std::string_view key,
                                     const std::vector<Duration>& fallback, int64_t least) {
  std::vector<std::string> texts;
  for (const Duration& duration : fallback) texts.push_back(duration.text());
  std::vector<Duration> durations;
  for (const std::string& text : view.texts(key, texts)) {
    const std::optional<Duration> duration = parse_duration(text);
    if (duration && duration->count >= least)
      durations.push_back(*duration);
    else
      refuse_span(view, key, text, least);
  }
  return durations;
}

}  // namespace cachet::train
