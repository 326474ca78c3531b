#include "cachet/report/text/remaining_time.h"

#include <algorithm>
#include <cmath>

namespace cachet::report {
namespace {

// Older work fades within half of the run's age, but not faster than this: early on, a step is a poor estimate.
constexpr double kShortestMemorySeconds = 30;

}  // namespace

void RemainingTime::update(double done, double total, double now) {
  if (!started_ || done < last_done_) {
    *this = RemainingTime();
    started_ = true;
    begin_ = now;
  } else {
    const double passed = std::max(now - last_time_, 0.0);
    const double kept = std::exp(-passed / std::max(kShortestMemorySeconds, (now - begin_) / 2));
    work_ = kept * work_ + (done - last_done_);
    time_ = kept * time_ + passed;
  }
  last_time_ = now;
  last_done_ = done;
  left_ = std::max(total - done, 0.0);
}

std::optional<double> RemainingTime::seconds(double now) const {
  if (work_ <= 0 || time_ <= 0) return std::nullopt;
  return std::max(left_ * time_ / work_ - std::max(now - last_time_, 0.0), 0.0);
}

}  // namespace cachet::report
