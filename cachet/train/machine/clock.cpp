#include "cachet/train/machine/clock.h"

#include <atomic>
#include <chrono>

namespace cachet::train {
namespace {

std::atomic<bool> is_played = false;
std::atomic<double> played_seconds = 0;

}  // namespace

double clock_seconds() {
  if (is_played) return played_seconds;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PlayedClock::PlayedClock() {
  played_seconds = 0;
  is_played = true;
}

PlayedClock::~PlayedClock() { is_played = false; }

void PlayedClock::advance(double seconds) { played_seconds = played_seconds + seconds; }

}  // namespace cachet::train
