#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "cachet/processes/process_group.h"
#include "cachet/processes/rendezvous.h"

namespace cachet::processes {

/// How long the processes of a run wait for each other.
struct MeetingOptions {
  WaitingOptions waiting{};  // what a process reports while it waits for the others
  /// Called repeatedly while rank 0 waits for the others. If it throws, the meeting ends.
  std::function<void()> while_waiting{};
  std::chrono::seconds join{300};    // that the processes wait for each other in the beginning
  std::chrono::seconds connect{60};  // that Gloo has to connect processes that have met
  std::chrono::seconds sum{600};     // for what is added up: longer than a step of the slowest
};

/// Waits until all processes are there and compares how they were started: each must have the same number of processes
/// and the same attempt. ProcessGroup::connect() then connects them. They exchange sums by Gloo: between processes of
/// one machine over its loopback interface, else over the interface that GLOO_SOCKET_IFNAME names, or that of the
/// host's name. The exchange is not encrypted, and processes are not authenticated: use a network of your own.
/// `socket`: the socket of rank 0's store. Without it, the store listens on the port of `place` on all interfaces.
/// Throws ProcessLost if a
/// process does not come in time, std::runtime_error if one was started otherwise or this one cannot listen, and what
/// while_waiting throws.
std::shared_ptr<ProcessGroup> meet(const ProcessPlace& place, LocalSocket* socket = nullptr,
                                   const MeetingOptions& options = {});

}  // namespace cachet::processes
