#pragma once

#include <signal.h>

#include <array>

namespace cachet::train {

/// While it lives, the first SIGINT, SIGTERM, SIGHUP (the terminal is gone) or SIGQUIT only sets a flag and a second
/// one leaves the process at once, with 128 and its number as the code. A signal that the process was started to
/// ignore, as nohup does with SIGHUP, stays ignored. One at a time in a process.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  bool requested() const;
  /// The code that a process ends with that was asked to stop: 128 and the number of the signal that the last
  /// Interruption saw, 130 where it saw none.
  static int exit_code();

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  std::array<struct sigaction, kSignals.size()> before_;
};

}  // namespace cachet::train
