#pragma once

#include <signal.h>

#include <array>

namespace cachet::train {

/// Handles SIGINT, SIGTERM, SIGHUP (the terminal is gone) and SIGQUIT during its lifetime. The first signal only sets a
/// flag; the second ends the process at once, with 128 plus its number as the exit code. A signal that the process was
/// started to ignore, as nohup does with SIGHUP, stays ignored. Only one object per process.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

  bool requested() const { return signal() != 0; }
  /// Returns the number of the signal to this or another process of the same training; 0 if there was no signal.
  int signal() const;
  /// Records a signal of another process, 0 for none, as one of this process. The next one still counts as the first.
  void pass_on(int signal);
  /// Returns the exit code of a process that was asked to stop: 128 plus the signal() of the last Interruption, 130 if
  /// there was none.
  static int exit_code();

 private:
  std::array<struct sigaction, kSignals.size()> before_;
};

}  // namespace cachet::train
