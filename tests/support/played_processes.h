#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "cachet/processes/rendezvous.h"

namespace cachet::test {

/// Processes of a run, played by threads of this one that meet as processes do. `play` of each gets its own; an
/// exception of one ends it alone, and is given back by rank.
inline std::vector<std::exception_ptr> play_processes(
    int64_t size, const std::function<void(const std::shared_ptr<processes::Processes>& own)>& play,
    const processes::MeetingOptions& options = {}) {
  processes::LocalSocket socket;
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  processes::ProcessPlace place{.size = size, .port = socket.port()};
  for (place.rank = 0; place.rank < size; ++place.rank) {
    threads.emplace_back([&, place] {
      try {
        play(processes::meet(place, place.rank == 0 ? &socket : nullptr, options));
      } catch (...) {
        errors[static_cast<size_t>(place.rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// The same where nobody is to fail.
inline void play_well(int64_t size, const std::function<void(const std::shared_ptr<processes::Processes>& own)>& play) {
  for (const std::exception_ptr& error : play_processes(size, play))
    if (error) std::rethrow_exception(error);
}

}  // namespace cachet::test
