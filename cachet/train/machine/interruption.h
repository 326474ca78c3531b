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

  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

  bool requested() const { return signal() != 0; }
  /// The number of the signal that came, or that came to another process of the same training; 0 where none did.
  int signal() const;
  /// Another process got this signal, 0 for none: as if it had come here, but the next is still the first one.
  void pass_on(int signal);
  /// The code that a process ends with that was asked to stop: 128 and the signal() of the last Interruption, 130 where
  /// there was none.
  static int exit_code();

 private:
  std::array<struct sigaction, kSignals.size()> before_;
};

}  // namespace cachet::train
