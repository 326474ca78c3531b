#include "cachet/train/machine/interruption.h"

#include <unistd.h>

namespace cachet::train {
namespace {

constexpr int kBySignal = 128;  // as shells have it

volatile sig_atomic_t stop_signal = 0;
int signal_elsewhere = 0;

int signal_seen() { return stop_signal != 0 ? static_cast<int>(stop_signal) : signal_elsewhere; }

void on_stop_signal(int signal) {
  if (stop_signal != 0) _exit(kBySignal + signal);
  stop_signal = signal;
}

}  // namespace

Interruption::Interruption() {
  stop_signal = signal_elsewhere = 0;
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

int Interruption::signal() const { return signal_seen(); }

void Interruption::pass_on(int signal) {
  if (signal != 0) signal_elsewhere = signal;
}

int Interruption::exit_code() { return kBySignal + (signal_seen() != 0 ? signal_seen() : SIGINT); }

}  // namespace cachet::train
