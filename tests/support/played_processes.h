#pragma once

#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "cachet/processes/meeting.h"

namespace cachet::test {

/// Whether processes that are played are connected already, or have met alone.
enum class Played { connected, met };

/// Meets, connects if it is to, and waits until all others have done the same or failed.
inline std::shared_ptr<processes::ProcessGroup> connected_process(const processes::ProcessPlace& place,
                                                                  processes::LocalSocket* socket,
                                                                  const processes::MeetingOptions& options,
                                                                  Played played, std::latch& connected) {
  if (played == Played::met) return processes::meet(place, socket, options);
  std::shared_ptr<processes::ProcessGroup> own;
  try {
    own = processes::meet(place, socket, options);
    own->connect();
  } catch (...) {
    connected.count_down();
    throw;
  }
  connected.arrive_and_wait();
  return own;
}

/// ProcessGroup of a run, played by threads of this one that meet as processes do. `play` of each gets its own; an
/// exception of one ends it alone, and is given back by rank.
inline std::vector<std::exception_ptr> play_processes(
    int64_t size, const std::function<void(const std::shared_ptr<processes::ProcessGroup>& own)>& play,
    const processes::MeetingOptions& options = {}, Played played = Played::connected) {
  processes::LocalSocket socket;
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  std::latch connected(size);  // one that left before another has connected would be missed in that, not in its calls
  processes::ProcessPlace place{.size = size, .port = socket.port()};
  for (place.rank = 0; place.rank < size; ++place.rank) {
    threads.emplace_back([&, place] {
      try {
        const auto own = connected_process(place, place.rank == 0 ? &socket : nullptr, options, played, connected);
        play(own);
      } catch (...) {
        errors[static_cast<size_t>(place.rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// The same where nobody is to fail.
inline void play_well(int64_t size,
                      const std::function<void(const std::shared_ptr<processes::ProcessGroup>& own)>& play,
                      Played played = Played::connected) {
  for (const std::exception_ptr& error : play_processes(size, play, {}, played))
    if (error) std::rethrow_exception(error);
}

}  // namespace cachet::test
