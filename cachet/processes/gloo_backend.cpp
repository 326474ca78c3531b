#include "cachet/processes/gloo_backend.h"

#include <cstdlib>

// Its header names types of Gloo's headers, which LibTorch does not bring: cmake/gloo-declarations stands in for them.
#ifdef USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif

namespace cachet::processes {

#ifdef USE_C10D_GLOO

c10::intrusive_ptr<c10d::Backend> gloo_backend(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place,
                                               const MeetingOptions& options) {
  using Gloo = c10d::ProcessGroupGloo;
  auto settings = Gloo::Options::create(options.join);
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  settings->devices.push_back(interface != nullptr && *interface != '\0' ? Gloo::createDeviceForInterface(interface)
                              : place.is_local()                         ? Gloo::createDeviceForHostname("127.0.0.1")
                                                                         : Gloo::createDefaultDevice());
  settings->threads = 1;  // one call at a time
  auto gloo = c10::make_intrusive<Gloo>(store, static_cast<int>(place.rank), static_cast<int>(place.size), settings);
  c10::intrusive_ptr<c10d::Backend> backend = std::move(gloo);
  backend->setTimeout(options.sum);
  return backend;
}

#else

c10::intrusive_ptr<c10d::Backend> gloo_backend(const c10::intrusive_ptr<c10d::Store>&, const ProcessPlace&,
                                               const MeetingOptions&) {
  throw NoGloo("this LibTorch was built without Gloo: it trains in one process alone");
}

#endif

}  // namespace cachet::processes
