#include "app/output/counted_progress.h"

#include <algorithm>
#include <utility>

#include "app/arguments/common_arguments.h"

namespace cachet::app {
namespace {

report::ProgressOptions options_of(const std::string& word, const Watched& watched) {
  const bool unasked = word == "auto" && (watched.results_on_terminal || watched.asked_line_by_line);
  return {.mode = unasked ? report::ProgressMode::none : progress_mode(word)};
}

}  // namespace

CountedProgress::CountedProgress(std::string phase, const std::string& word, const Watched& watched)
    : from_the_start_(watched.from_the_start), progress_(options_of(word, watched)) {
  state_.phase = std::move(phase);
}

bool CountedProgress::is_early() const {
  if (from_the_start_) return false;
  const std::chrono::seconds quiet(progress_.mode() == report::ProgressMode::plain ? 10 : 1);
  return std::chrono::steady_clock::now() - begin_ < quiet;
}

void CountedProgress::show(int64_t done, int64_t total) {
  if (is_early()) return;
  state_.step = done;
  state_.steps = total;
  state_.run_done = static_cast<double>(done) / static_cast<double>(std::max<int64_t>(1, total));
  progress_.update(state_);
}

void CountedProgress::show(int64_t done, const std::string& many) {
  if (is_early()) return;
  state_.metrics = {{many, std::to_string(done)}};
  progress_.update(state_);
}

}  // namespace cachet::app
