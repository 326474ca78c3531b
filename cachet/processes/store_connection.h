#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "cachet/processes/meeting.h"

namespace cachet::processes {

/// Opens the common store of all processes of a run. Unless torchrun serves the store, process 0 serves it on `socket`,
/// or on place.port if `socket` is null. A process that does not serve the store tries to connect until the time
/// `until`. Throws ProcessLost if no store answers in time or if another program answers at its port, and
/// std::runtime_error if process 0 cannot listen on the port.
c10::intrusive_ptr<c10d::Store> open_store(const ProcessPlace& place, LocalSocket* socket,
                                           const MeetingOptions& options, std::chrono::steady_clock::time_point until);

/// Returns the store's address: "127.0.0.1:29500", with the port of `socket` if there is one.
std::string address_of(const ProcessPlace& place, const LocalSocket* socket);

}  // namespace cachet::processes
