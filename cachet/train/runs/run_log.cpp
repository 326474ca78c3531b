#include "cachet/train/runs/run_log.h"

#include <utility>

#include "cachet/config/utf8.h"
#include "cachet/report/text/progress.h"
#include "cachet/train/runs/event_log.h"

namespace cachet::train {

RunLog::RunLog(const std::filesystem::path& path, report::Progress* progress) : progress_(progress) {
  try {
    file_.emplace(path);
  } catch (const io::Error& error) {
    report_once(error.what());
  }
}

void RunLog::say(std::string_view line) {
  note(line);
  if (progress_ != nullptr) progress_->log(line);
}

void RunLog::report_once(const std::string& failure) {
  if (std::exchange(reported_, true) || progress_ == nullptr) return;
  progress_->log("the log cannot be written: " + failure);
}

void RunLog::note(std::string_view line) {
  if (!file_) return;
  try {
    file_->append(utc_text(unix_time(), "%Y-%m-%dT%H:%M:%SZ").append(" ").append(config::visible(line)).append("\n"));
  } catch (const io::Error& error) {
    report_once(error.what());
  }
}

}  // namespace cachet::train
