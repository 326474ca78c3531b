#pragma once

#include <signal.h>

namespace cachet::train {

/// While it lives, the first SIGINT or SIGTERM only sets a flag and a second one leaves the process at once with code
/// 130. One at a time in a process.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  bool requested() const;

 private:
  struct sigaction interrupt_before_, terminate_before_;
};

}  // namespace cachet::train
