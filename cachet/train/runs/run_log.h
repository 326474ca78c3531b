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

/// log.txt: the messages of a run, each with the time (UTC) in its line. A log that cannot be written never ends a run.
/// Only the first failure is reported to the user.
class RunLog {
 public:
  /// Opens the log at `path`. `progress` may be null.
  RunLog(const std::filesystem::path& path, report::Progress* progress);

  void say(std::string_view line);   // to the file and the user
  void note(std::string_view line);  // only to the file

 private:
  void report_once(const std::string& failure);

  std::optional<io::GrowingFile> file_;
  report::Progress* progress_;
  bool reported_ = false;
};

}  // namespace cachet::train
