#include "cachet/train/run_log.h"

#include <ctime>

#include "cachet/report/progress.h"

namespace cachet::train {

RunLog::RunLog(const std::filesystem::path& path, report::Progress* progress)
    : file_(path, std::ios::app), progress_(progress) {}

void RunLog::say(std::string_view line) {
  note(line);
  if (progress_ != nullptr) progress_->log(line);
}

void RunLog::note(std::string_view line) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char time[24];
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", &utc);
  file_ << time << ' ' << line << '\n' << std::flush;
}

}  // namespace cachet::train
