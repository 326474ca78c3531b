#pragma once

#include <c10/util/intrusive_ptr.h>

#include <stdexcept>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "cachet/processes/meeting.h"

namespace cachet::processes {

/// The error if this process cannot use Gloo for local reasons. what() has the reason and a remedy.
class CannotConnect : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns LibTorch's Gloo backend for all processes that use this store. Throws CannotConnect if LibTorch has no Gloo
/// or this machine lacks the network interface, and Gloo's exceptions if a process does not connect.
c10::intrusive_ptr<c10d::Backend> gloo_backend(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place,
                                               const MeetingOptions& options);

}  // namespace cachet::processes
