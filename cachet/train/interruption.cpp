#include "cachet/train/interruption.h"

#include <unistd.h>

namespace cachet::train {
namespace {

volatile sig_atomic_t stop_requested = 0;

void on_stop_signal(int) {
  if (stop_requested != 0) _exit(130);
  stop_requested = 1;
}

}  // namespace

Interruption::Interruption() {
  stop_requested = 0;
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;  // a save under way is not to fail with EINTR
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

bool Interruption::requested() const { return stop_requested != 0; }

}  // namespace cachet::train
