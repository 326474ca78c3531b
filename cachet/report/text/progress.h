#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/report/text/fitted_line.h"

namespace cachet::report {

enum class ProgressMode {
  automatic,  // a bar on a terminal, plain lines elsewhere
  bar,        // one line redrawn in place, at most ten times a second
  plain,      // a line every few seconds, and one at the end of a phase
  none,       // only log lines and results of phases
};

struct ProgressOptions {
  ProgressMode mode = ProgressMode::automatic;
  double plain_interval_seconds = 10;
  int descriptor = 2;  // standard error, because standard output is for results
};

/// The progress of a run. Absent values are not shown. If `seconds_left` is absent, it is computed from `run_done`.
struct ProgressState {
  std::string phase = "train";         // "train", "eval", …
  int64_t epoch = 0, epochs = 0;       // the current epoch, from 1, and the number of epochs; not shown if both are 0
  int64_t step = 0, steps = 0;         // finished steps and all steps of this phase in this epoch
  std::optional<double> run_done;      // fraction of the whole run, in [0, 1]; absent in phases that do not add to it
  std::optional<double> seconds_left;  // time left of the whole run
  struct Metric {
    std::string title, value;  // title and value as shown: "top-1", "31.0 %"
  };
  std::vector<Metric> metrics;  // running means, the most important first
  std::optional<double> learning_rate, gradient_norm;
  std::optional<double> rate;
  std::string rate_unit = "img/s";
  std::optional<double> data_wait;  // fraction of the time spent waiting for data, in [0, 1]
  std::optional<int64_t> memory_bytes;
  bool is_concluded = false;  // whether conclude() replaces the line after the last step of this phase
};

/// The live progress line of a run. The line is thread-safe, never throws, never writes to standard output, survives a
/// closed pipe, and leaves the terminal unchanged at the end.
class Progress {
 public:
  explicit Progress(const ProgressOptions& options = {}) noexcept;
  ~Progress();  // finish()
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Updates the line. Call update() at every step. If the line was drawn only a moment ago, update() does not draw it
  /// again.
  void update(const ProgressState& state) noexcept;

  /// Prints a line in every mode, above the bar if there is one.
  void log(std::string_view line) noexcept;

  /// Ends a phase with a line of its results, which replaces the bar and is printed in every mode. On a terminal, the
  /// line has only the fields that fit. In a file or a pipe, the line of results has all fields.
  void conclude(const std::vector<LineField>& fields) noexcept;

  /// Writes the line once more with the last state, and ends the line. A call of update() after finish() starts a new
  /// line.
  void finish() noexcept;

  /// Returns the mode of the options, or the mode that the constructor chose instead of `automatic`.
  ProgressMode mode() const noexcept { return mode_; }

 private:
  struct Impl;
  ProgressMode mode_ = ProgressMode::none;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cachet::report
