#include "cachet/report/text/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "cachet/config/utf8.h"
#include "cachet/report/text/ascii.h"
#include "cachet/report/text/display_width.h"
#include "cachet/report/text/progress_line.h"
#include "cachet/report/text/remaining_time.h"
#include "cachet/report/text/terminal.h"

namespace cachet::report {
namespace {

constexpr double kRedrawSeconds = 0.1;

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool wants_colour() {
  const char* refusal = std::getenv("NO_COLOR");  // no-color.org: any value but an empty one
  return refusal == nullptr || *refusal == 0;
}

}  // namespace

struct Progress::Impl {
  ProgressOptions options;
  LineStyle style;
  std::mutex mutex;
  ProgressState state;
  RemainingTime remaining;
  double updated = 0;    // when `state` was
  bool pending = false;  // the last state was not drawn
  int drawn_width = 0;   // columns of the bar on the screen, 0 for none
  double last_drawn = -1e9;

  // Takes the bar off the screen. A terminal that became narrower has broken it into several rows.
  std::string erased() {
    if (drawn_width == 0) return "";
    const int rows = (drawn_width - 1) / std::max(terminal_columns(options.descriptor), 1);
    drawn_width = 0;
    return (rows > 0 ? "\033[" + std::to_string(rows) + "A" : "") + "\r\033[J";
  }

  std::string shown(std::string_view line) const {
    const std::string visible = config::visible(line);
    return takes_unicode(options.descriptor) ? visible : ascii_text(visible);
  }

  std::optional<double> seconds_left(double now) const {
    if (state.seconds_left) return std::max(*state.seconds_left - (now - updated), 0.0);
    return remaining.seconds(now);
  }

  std::string bar(double now) {
    // The last column stays free: some terminals break the line as soon as it is filled.
    style.columns = std::min(text_columns(options.descriptor), terminal_columns(options.descriptor)) - 1;
    const std::string line = bar_line(state, seconds_left(now), style);
    const std::string text = erased() + line;
    LineStyle measure = style;
    measure.colour = false;
    drawn_width = style.colour ? display_width(bar_line(state, seconds_left(now), measure)) : display_width(line);
    return text;
  }

  void draw(ProgressMode mode, double now) {
    pending = false;
    last_drawn = now;
    if (mode == ProgressMode::plain) {
      write_fully(options.descriptor, shown(plain_line(state, seconds_left(now))) + "\n");
    } else if (is_foreground(options.descriptor)) {
      write_fully(options.descriptor, bar(now));
    }
  }
};

Progress::Progress(const ProgressOptions& options) noexcept try : mode_(options.mode), impl_(new Impl) {
  impl_->options = options;
  if (mode_ == ProgressMode::automatic) {
    mode_ = moves_cursor(options.descriptor) ? ProgressMode::bar : ProgressMode::plain;
  }
  impl_->style.unicode = takes_unicode(options.descriptor);
  impl_->style.colour = wants_colour();
} catch (...) {
  // If memory is exhausted, no progress is shown: every member does nothing.
}

Progress::~Progress() { finish(); }

void Progress::update(const ProgressState& state) noexcept try {
  if (!impl_ || mode_ == ProgressMode::none) return;
  const std::lock_guard lock(impl_->mutex);
  const double now = monotonic_seconds();
  const bool another = state.phase != impl_->state.phase || state.epoch != impl_->state.epoch;
  const bool complete = state.steps > 0 && state.step >= state.steps;
  if (mode_ == ProgressMode::plain && another && impl_->pending) impl_->draw(mode_, now);
  impl_->state = state;
  impl_->updated = now;
  impl_->pending = true;
  if (state.run_done) impl_->remaining.update(*state.run_done, 1, now);
  const double interval = mode_ == ProgressMode::bar ? kRedrawSeconds : impl_->options.plain_interval_seconds;
  const bool leaves_line = mode_ == ProgressMode::plain && complete;
  if (leaves_line && state.is_concluded) impl_->pending = false;
  if (leaves_line ? !state.is_concluded : now - impl_->last_drawn >= interval) impl_->draw(mode_, now);
} catch (...) {
  // A line that cannot be drawn is not a reason to end a run.
}

void Progress::log(std::string_view line) noexcept try {
  if (!impl_) return;
  const std::lock_guard lock(impl_->mutex);
  const bool had_bar = impl_->drawn_width > 0;
  write_fully(impl_->options.descriptor, impl_->erased() + impl_->shown(line) + "\n");
  if (had_bar) impl_->draw(mode_, monotonic_seconds());
} catch (...) {
}

void Progress::conclude(const std::vector<LineField>& fields) noexcept try {
  if (!impl_) return;
  const std::lock_guard lock(impl_->mutex);
  const int descriptor = impl_->options.descriptor;
  std::vector<LineField> spelled = fields;
  for (LineField& field : spelled) field.text = impl_->shown(field.text);
  int columns = -1;
  if (is_terminal(descriptor)) columns = std::min(text_columns(descriptor), terminal_columns(descriptor));
  write_fully(descriptor, impl_->erased() + fitted_line(spelled, columns) + "\n");
  impl_->pending = false;
  impl_->last_drawn = -1e9;
} catch (...) {
}

void Progress::finish() noexcept try {
  if (!impl_) return;
  const std::lock_guard lock(impl_->mutex);
  if (impl_->pending) impl_->draw(mode_, monotonic_seconds());
  if (impl_->drawn_width > 0) write_fully(impl_->options.descriptor, "\n");
  impl_->drawn_width = 0;
  impl_->last_drawn = -1e9;
  impl_->remaining = RemainingTime();
} catch (...) {
}

}  // namespace cachet::report
