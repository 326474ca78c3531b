#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cachet/processes/process_group.h"

namespace cachet::processes {

/// The rank of this process in its run, and the address at which the processes meet.
struct ProcessPlace {
  int64_t rank = 0, size = 1;
  int64_t local_rank = 0;          // rank among this machine's processes: the number of the process's GPU
  std::string host = "127.0.0.1";  // address of rank 0
  uint16_t port = 0;
  int64_t attempt = 0;           // number of restarts; entries of earlier attempts in the store are not read
  bool store_is_served = false;  // whether torchrun serves the store, instead of rank 0

  /// Whether all processes are on this machine. If all processes are on this machine, no port is open to other
  /// machines.
  bool is_local() const;
};

/// Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, which torchrun and others set. Without WORLD_SIZE,
/// returns nullopt. If a variable is missing or invalid, throws std::invalid_argument, which names the variable.
std::optional<ProcessPlace> place_from_environment();

/// A socket for the store of rank 0. Only processes of this machine can reach the socket.
class LocalSocket {
 public:
  /// Throws std::runtime_error if no socket is available.
  LocalSocket();
  ~LocalSocket();
  LocalSocket(const LocalSocket&) = delete;
  LocalSocket& operator=(const LocalSocket&) = delete;

  uint16_t port() const { return port_; }
  /// Returns the socket, which then belongs to the caller.
  int release();

 private:
  int descriptor_ = -1;
  uint16_t port_ = 0;
};

}  // namespace cachet::processes
