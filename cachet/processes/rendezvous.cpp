#include "cachet/processes/rendezvous.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "cachet/processes/gloo_backend.h"

namespace cachet::processes {
namespace {

constexpr int64_t kMostProcesses = 4096;
constexpr int64_t kMostAttempts = 1'000'000'000;

/// The whole number that a variable of the environment holds, from `least` to `most`.
int64_t number_in_environment(const char* name, int64_t least, int64_t most) {
  const char* text = std::getenv(name);
  if (text == nullptr)
    throw std::invalid_argument(std::string(name) +
                                " is not set, and WORLD_SIZE is: of several processes each needs both");
  int64_t value = 0;
  const std::string_view word(text);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most)
    throw std::invalid_argument(std::string(name) + " is \"" + text + "\", not a whole number from " +
                                std::to_string(least) + " to " + std::to_string(most));
  return value;
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string("no socket for the processes to meet at: ") + what + ": " +
                           std::strerror(errno));
}

/// Of the caller's own, which ended the meeting.
struct NotWaitedFor {
  std::exception_ptr reason;
};

/// The leader counts who has come; the others wait as Gloo does, for it.
void wait_for_all(c10d::Store& store, const ProcessPlace& place, const MeetingOptions& options,
                  std::chrono::steady_clock::time_point until) {
  constexpr auto kLook = std::chrono::milliseconds(20);
  const std::string key = "arrived";
  int64_t arrived = store.add(key, 1);
  while (place.rank == 0 && arrived < place.size) {
    try {
      if (options.while_waiting) options.while_waiting();
    } catch (...) {
      throw NotWaitedFor{std::current_exception()};
    }
    if (std::chrono::steady_clock::now() > until)
      throw std::runtime_error(std::to_string(place.size - arrived) + " did not come");
    std::this_thread::sleep_for(kLook);
    arrived = store.add(key, 0);
  }
}

}  // namespace

bool ProcessPlace::is_local() const { return host == "localhost" || host == "::1" || host.starts_with("127."); }

std::optional<ProcessPlace> place_from_environment() {
  if (std::getenv("WORLD_SIZE") == nullptr) return std::nullopt;
  ProcessPlace place;
  place.size = number_in_environment("WORLD_SIZE", 1, kMostProcesses);
  if (place.size == 1) return place;
  place.rank = number_in_environment("RANK", 0, place.size - 1);
  place.local_rank = std::getenv("LOCAL_RANK") == nullptr ? 0 : number_in_environment("LOCAL_RANK", 0, place.rank);
  const char* host = std::getenv("MASTER_ADDR");
  if (host == nullptr || *host == '\0') throw std::invalid_argument("MASTER_ADDR is not set: the host of process 0");
  place.host = host;
  place.port = static_cast<uint16_t>(number_in_environment("MASTER_PORT", 1, 65535));
  if (std::getenv("TORCHELASTIC_RESTART_COUNT") != nullptr)
    place.attempt = number_in_environment("TORCHELASTIC_RESTART_COUNT", 0, kMostAttempts);
  const char* served = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  place.store_is_served = served != nullptr && std::string_view(served) == "True";
  return place;
}

LocalSocket::LocalSocket() : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (descriptor_ < 0) fail("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(descriptor_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(descriptor_, SOMAXCONN) != 0 ||
      getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const int error = errno;
    close(descriptor_);
    errno = error;
    fail("bind");
  }
  port_ = ntohs(address.sin_port);
}

LocalSocket::~LocalSocket() {
  if (descriptor_ >= 0) close(descriptor_);
}

int LocalSocket::release() { return std::exchange(descriptor_, -1); }

std::shared_ptr<Processes> meet(const ProcessPlace& place, LocalSocket* socket, const MeetingOptions& options) {
  c10d::TCPStoreOptions at_store;
  at_store.port = place.port;
  at_store.isServer = place.rank == 0 && !place.store_is_served;
  at_store.numWorkers = static_cast<size_t>(place.size);
  at_store.waitWorkers = false;
  at_store.timeout = options.join;
  if (at_store.isServer && socket != nullptr) {
    at_store.port = socket->port();
    at_store.masterListenFd = socket->release();
  }
  const auto until = std::chrono::steady_clock::now() + options.join;
  try {
    const auto store = c10::make_intrusive<c10d::PrefixStore>(
        "cachet/attempt " + std::to_string(place.attempt), c10::make_intrusive<c10d::TCPStore>(place.host, at_store));
    wait_for_all(*store, place, options, until);
    auto backend = gloo_backend(store, place, options);
    return std::make_shared<Processes>(store, backend);
  } catch (const NoGloo&) {
    throw;
  } catch (const NotWaitedFor& other) {
    std::rethrow_exception(other.reason);
  } catch (const std::exception& error) {
    const std::string_view said(error.what());
    throw ProcessLost("the " + std::to_string(place.size) + " processes of the run did not meet at " + place.host +
                      ":" + std::to_string(at_store.port) + " within " + std::to_string(options.join.count()) +
                      " s: " + std::string(said.substr(0, said.find('\n'))));
  }
}

}  // namespace cachet::processes
