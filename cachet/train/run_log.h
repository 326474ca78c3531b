#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

namespace cachet::report {
class Progress;
}

namespace cachet::train {

/// log.txt: what a run said, each line with the time (UTC). A log that cannot be written never ends a run.
class RunLog {
 public:
  /// `progress` may be null.
  RunLog(const std::filesystem::path& path, report::Progress* progress);

  void say(std::string_view line);   // into the file and to the user
  void note(std::string_view line);  // into the file alone

 private:
  std::ofstream file_;
  report::Progress* progress_;
};

}  // namespace cachet::train
