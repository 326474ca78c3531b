#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cachet/io/files/growing_file.h"

namespace cachet::report {
class Progress;
}

namespace cachet::train {

/// The messages of a run in log.txt, each with the time (UTC) in its line. A failure to write the log never ends a run.
/// Only the first failure is reported to the user.
class RunLog {
 public:
  /// Opens the log at `path`. `progress` may be null.
  RunLog(const std::filesystem::path& path, report::Progress* progress);

  void say(std::string_view line);   // writes to the file and the user
  void note(std::string_view line);  // writes only to the file

 private:
  void report_once(const std::string& failure);

  std::optional<io::GrowingFile> file_;
  report::Progress* progress_;
  bool reported_ = false;
};

}  // namespace cachet::train
