#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cachet/tasks/runs/settled_data.h"

namespace cachet::app {

/// Reads the test data of runs in a separate process, within one time limit for all runs. If this takes longer than a
/// second, shows it on standard error.
class BoundedLook {
 public:
  /// `progress`: the value of --progress.
  BoundedLook(std::chrono::seconds most, std::string progress)
      : left_(most), most_(most), progress_(std::move(progress)) {}

  /// Empty if the data cannot be read or the time is over. Standard error gets a line about the end of the time.
  std::optional<tasks::PresentDigest> operator()(const tasks::RunRecord& run);

 private:
  std::chrono::milliseconds left_;
  std::chrono::seconds most_;
  std::string progress_;
};

}  // namespace cachet::app
