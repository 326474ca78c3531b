#pragma once

#include <c10/util/intrusive_ptr.h>

#include <stdexcept>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "cachet/processes/meeting.h"

namespace cachet::processes {

/// This process cannot use Gloo, whatever the others do: what() has the reason and what to do.
class CannotConnect : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// LibTorch's own Gloo, between all processes that share the store. Throws CannotConnect if this LibTorch has no Gloo
/// or this machine not the network interface, and Gloo's exceptions if a process does not connect.
c10::intrusive_ptr<c10d::Backend> gloo_backend(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place,
                                               const MeetingOptions& options);

}  // namespace cachet::processes
