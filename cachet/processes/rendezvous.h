#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cachet/processes/process_group.h"

namespace cachet::processes {

/// Which of the processes of a run this one is, and where they meet.
struct ProcessPlace {
  int64_t rank = 0, size = 1;
  int64_t local_rank = 0;          // among those of this machine: its number of a GPU
  std::string host = "127.0.0.1";  // of the leader
  uint16_t port = 0;
  int64_t attempt = 0;           // how often they were started again: what earlier ones left in the store is not read
  bool store_is_served = false;  // torchrun serves the store itself; else the leader does

  /// Whether all of them are on this machine, so that nothing listens to others.
  bool is_local() const;
};

/// What RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT say, as torchrun and others set them; nothing where
/// there is no WORLD_SIZE. Throws std::invalid_argument that names the variable that is missing or makes no sense.
std::optional<ProcessPlace> place_from_environment();

/// A socket of this machine, which only processes of this machine reach, for the store of a leader.
class LocalSocket {
 public:
  /// Throws std::runtime_error where none is to be had.
  LocalSocket();
  ~LocalSocket();
  LocalSocket(const LocalSocket&) = delete;
  LocalSocket& operator=(const LocalSocket&) = delete;

  uint16_t port() const { return port_; }
  /// The socket, which is the caller's from then on.
  int release();

 private:
  int descriptor_ = -1;
  uint16_t port_ = 0;
};

struct MeetingOptions {
  WaitingOptions waiting{};  // what a process reports while it waits for the others
  /// Called again and again while the leader waits for the others: what it throws ends the meeting.
  std::function<void()> while_waiting{};
  std::chrono::seconds join{300};    // that the processes wait for each other in the beginning
  std::chrono::seconds connect{60};  // that Gloo has to connect processes that have met
  std::chrono::seconds sum{600};     // for what is added up: longer than a step of the slowest
};

/// Waits until all processes are there and compares how they were started: each must have the same number of processes
/// and the same attempt. ProcessGroup::connect() then connects them. They exchange sums by Gloo: between processes of
/// one machine over its loopback interface, else over the interface that GLOO_SOCKET_IFNAME names, or that of the
/// host's name. The exchange is not encrypted, and processes are not authenticated: use a network of your own.
/// `socket`: what the leader's store listens on, else it is the place's port on all interfaces. Throws ProcessLost if a
/// process does not come in time, std::runtime_error if one was started otherwise or this one cannot listen, and what
/// while_waiting throws.
std::shared_ptr<ProcessGroup> meet(const ProcessPlace& place, LocalSocket* socket = nullptr,
                                   const MeetingOptions& options = {});

}  // namespace cachet::processes
