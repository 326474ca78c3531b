#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cachet/tasks/runs/settled_data.h"

namespace cachet::app {

/// Looks at the test data of runs in a process of its own, for a limited time in all, and shows that it does if that
/// takes longer than a second.
class BoundedLook {
 public:
  /// `progress` is the word of --progress.
  BoundedLook(std::chrono::seconds most, std::string progress)
      : left_(most), most_(most), progress_(std::move(progress)) {}

  /// Nothing if the data cannot be read, or if the time is over, which a line on standard error reports.
  std::optional<tasks::PresentDigest> operator()(const tasks::RunRecord& run);

 private:
  std::chrono::milliseconds left_;
  std::chrono::seconds most_;
  std::string progress_;
};

}  // namespace cachet::app
