#pragma once

#include <signal.h>

#include <array>

namespace cachet::train {

/// Handles SIGINT, SIGTERM, SIGHUP (the terminal is gone) and SIGQUIT during the object's lifetime. The first signal
/// only sets a flag. The second signal ends the process at once, with exit code 128 + the signal's number. If the
/// process ignored a signal at its start, such as SIGHUP under nohup, the process continues to ignore this signal. A
/// process may have only one Interruption object.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

  bool requested() const { return signal() != 0; }
  /// Returns the number of the signal that this or another process of the training has received, or 0 without a signal.
  int signal() const;
  /// Records the signal that another process received; 0 means that it received no signal. A signal that this process
  /// itself receives later counts as its first signal, which does not end the process at once.
  void pass_on(int signal);
  /// Returns the exit code of a process that was asked to stop: 128 plus the signal() of the last Interruption, or 130
  /// if there was no Interruption.
  static int exit_code();

 private:
  std::array<struct sigaction, kSignals.size()> before_;
};

}  // namespace cachet::train
