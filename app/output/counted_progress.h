#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cachet/report/text/progress.h"

namespace cachet::app {

/// Where the results of a command go, and whence what it answers comes: it shows how far it is if nobody sees that
/// anyhow, and nobody waits for one answer at a time.
struct Watched {
  bool results_on_terminal = false;
  bool asked_line_by_line = false;  // comes_line_by_line()
  bool from_the_start = false;      // also where it is done within a second (lines: within ten)
};

/// How far a command has come that counts what it does, on standard error.
class CountedProgress {
 public:
  /// `phase` is what is done, in a word; `word` is that of --progress.
  CountedProgress(std::string phase, const std::string& word, const Watched& watched = {});

  void show(int64_t done, int64_t total);
  /// Where nobody knows how many there are: `many` is what they are called.
  void show(int64_t done, const std::string& many);

  /// Leaves the line, before anything else is printed.
  void finish() { progress_.finish(); }

  /// Prints a line, above the bar where there is one.
  void log(std::string_view line) { progress_.log(line); }

 private:
  bool is_early() const;

  bool from_the_start_;
  report::ProgressState state_;
  report::Progress progress_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace cachet::app
