#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cachet/processes/process_group.h"

namespace cachet::processes {

/// The rank of this process in its run, and the address where the processes meet.
struct ProcessPlace {
  int64_t rank = 0, size = 1;
  int64_t local_rank = 0;          // among those of this machine: its number of a GPU
  std::string host = "127.0.0.1";  // of rank 0
  uint16_t port = 0;
  int64_t attempt = 0;           // how often they were started again: what earlier ones left in the store is not read
  bool store_is_served = false;  // torchrun serves the store itself; otherwise rank 0 does

  /// Whether all of them are on this machine, so that nothing listens to others.
  bool is_local() const;
};

/// The values of RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, as torchrun and others set them; nothing
/// without WORLD_SIZE. Throws std::invalid_argument that names a missing or invalid variable.
std::optional<ProcessPlace> place_from_environment();

/// A socket of this machine, which only processes of this machine reach, for the store of rank 0.
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

}  // namespace cachet::processes
