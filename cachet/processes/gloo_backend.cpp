#include "cachet/processes/gloo_backend.h"

#include <net/if.h>

#include <cstdlib>
#include <string>

// Its header names types of Gloo's headers, which LibTorch does not bring: cmake/gloo-declarations stands in for them.
#ifdef USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif

#include "cachet/config/library_message.h"
#include "cachet/config/utf8.h"

namespace cachet::processes {

#ifdef USE_C10D_GLOO

namespace {

using Gloo = c10d::ProcessGroupGloo;

constexpr const char* kInterface = "GLOO_SOCKET_IFNAME";

/// ": this machine has eth0 and lo".
std::string interfaces_here() {
  struct if_nameindex* all = if_nameindex();
  if (all == nullptr) return "";
  std::string names;
  for (const struct if_nameindex* each = all; each->if_index != 0; ++each)
    names += (names.empty() ? "; this machine has " : ", ") + std::string(each->if_name);
  if_freenameindex(all);
  return names;
}

/// The device over which Gloo exchanges sums. Throws CannotConnect.
std::shared_ptr<gloo::transport::Device> device_for(const ProcessPlace& place) {
  const char* named = std::getenv(kInterface);
  const std::string name = named == nullptr ? "" : named;
  if (!name.empty() && if_nametoindex(name.c_str()) == 0)
    throw CannotConnect(std::string(kInterface) + " names the network interface \"" + config::printable(name) +
                        "\", which this machine does not have" + interfaces_here());
  try {
    return !name.empty()      ? Gloo::createDeviceForInterface(name)
           : place.is_local() ? Gloo::createDeviceForHostname("127.0.0.1")
                              : Gloo::createDefaultDevice();
  } catch (const std::exception& error) {
    throw CannotConnect((!name.empty()      ? "Gloo cannot use the network interface " + name
                         : place.is_local() ? std::string("Gloo cannot use 127.0.0.1, the loopback interface")
                                            : std::string("Gloo finds no network interface for this host's name")) +
                        " (" + config::plain_message(error.what()) + "); set " + kInterface + " to another interface");
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> gloo_backend(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place,
                                               const MeetingOptions& options) {
  auto settings = Gloo::Options::create(options.connect);
  settings->devices.push_back(device_for(place));
  settings->threads = 1;  // one call at a time
  auto gloo = c10::make_intrusive<Gloo>(store, static_cast<int>(place.rank), static_cast<int>(place.size), settings);
  c10::intrusive_ptr<c10d::Backend> backend = std::move(gloo);
  backend->setTimeout(options.sum);
  return backend;
}

#else

c10::intrusive_ptr<c10d::Backend> gloo_backend(const c10::intrusive_ptr<c10d::Store>&, const ProcessPlace&,
                                               const MeetingOptions&) {
  throw CannotConnect("this LibTorch was built without Gloo, so it can train only in one process");
}

#endif

}  // namespace cachet::processes
