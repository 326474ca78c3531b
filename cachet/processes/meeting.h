#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "cachet/processes/process_group.h"
#include "cachet/processes/rendezvous.h"

namespace cachet::processes {

/// The time limits of waits between the processes of a run.
struct MeetingOptions {
  WaitingOptions waiting{};  // reports of a process while it waits for other processes
  /// A function that is called repeatedly while rank 0 waits for other processes. If the function throws an exception,
  /// meet() ends with this exception.
  std::function<void()> while_waiting{};
  std::chrono::seconds join{300};    // time for the processes to meet at the beginning
  std::chrono::seconds connect{60};  // time for Gloo to connect the processes afterwards
  std::chrono::seconds sum{600};     // time for a sum; must exceed a step of the slowest process
};

/// Waits until all processes have arrived and compares their settings: each must have the same number of processes and
/// of restarts (attempt). Later, ProcessGroup::connect() connects the processes. The processes exchange sums by Gloo.
/// Processes on one machine use its loopback interface. Processes on several machines use the network interface that
/// GLOO_SOCKET_IFNAME names. If GLOO_SOCKET_IFNAME is not set, processes on several machines use the interface of the
/// host name. The exchange is not encrypted, and processes are not authenticated: use a private network. `socket`: the
/// socket of rank 0's store. Without a socket, the store listens on the port of `place` on all interfaces. Throws
/// ProcessLost if a process does not arrive in time. Throws std::runtime_error if the settings of two processes differ
/// or if this process cannot listen.
std::shared_ptr<ProcessGroup> meet(const ProcessPlace& place, LocalSocket* socket = nullptr,
                                   const MeetingOptions& options = {});

}  // namespace cachet::processes
