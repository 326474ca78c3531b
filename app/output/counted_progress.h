#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cachet/report/text/progress.h"

namespace cachet::app {

/// The destination of a command's results and the source of its input. Progress is shown unless the results already
/// show it on a terminal, or a user waits for one answer at a time.
struct Watched {
  bool results_on_terminal = false;
  bool asked_line_by_line = false;  // result of comes_line_by_line()
  bool from_the_start = false;      // whether it also appears in the first second (plain lines: first ten)
};

/// The progress of a command that counts its work, on standard error.
class CountedProgress {
 public:
  /// `phase` names the work in a word. `word` is the value of --progress.
  CountedProgress(std::string phase, const std::string& word, const Watched& watched = {});

  void show(int64_t done, int64_t total);
  /// Shows the progress if the total is unknown. `many` is the plural of the counted things.
  void show(int64_t done, const std::string& many);

  /// Ends the progress line, before other output.
  void finish() { progress_.finish(); }

  /// Prints a line, above the bar if there is one.
  void log(std::string_view line) { progress_.log(line); }

 private:
  bool is_early() const;

  bool from_the_start_;
  report::ProgressState state_;
  report::Progress progress_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace cachet::app
