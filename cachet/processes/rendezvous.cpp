#include "cachet/processes/rendezvous.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace cachet::processes {
namespace {

constexpr int64_t kMaxProcesses = 4096;
constexpr int64_t kMaxAttempts = 1'000'000'000;

/// The whole number that a variable of the environment holds, from `least` to `most`.
int64_t number_in_environment(const char* name, int64_t least, int64_t most) {
  const char* text = std::getenv(name);
  if (text == nullptr)
    throw std::invalid_argument(
        std::string(name) +
        " is not set, but WORLD_SIZE is set; if a run has several processes, each process needs both");
  int64_t value = 0;
  const std::string_view word(text);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most)
    throw std::invalid_argument(std::string(name) + " is \"" + text + "\", but must be a whole number from " +
                                std::to_string(least) + " to " + std::to_string(most));
  return value;
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string("cannot open the socket at which the processes connect: ") + what + ": " +
                           std::strerror(errno));
}

/// Why a socket that listens there is not reached; 0 where it is. Takes the connection out of its queue again.
int problem_of_connecting(int listening, const sockaddr_in& address) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0) return errno;
  const bool reached = connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  const int problem = reached ? 0 : errno;
  if (reached)
    if (const int peer = accept(listening, nullptr, nullptr); peer >= 0) close(peer);
  close(client);
  return problem;
}

}  // namespace

bool ProcessPlace::is_local() const { return host == "localhost" || host == "::1" || host.starts_with("127."); }

std::optional<ProcessPlace> place_from_environment() {
  if (std::getenv("WORLD_SIZE") == nullptr) return std::nullopt;
  ProcessPlace place;
  place.size = number_in_environment("WORLD_SIZE", 1, kMaxProcesses);
  if (place.size == 1) return place;
  place.rank = number_in_environment("RANK", 0, place.size - 1);
  place.local_rank = std::getenv("LOCAL_RANK") == nullptr ? 0 : number_in_environment("LOCAL_RANK", 0, place.rank);
  const char* host = std::getenv("MASTER_ADDR");
  if (host == nullptr || *host == '\0')
    throw std::invalid_argument("MASTER_ADDR is not set; set it to the host of process 0");
  place.host = host;
  place.port = static_cast<uint16_t>(number_in_environment("MASTER_PORT", 1, 65535));
  if (std::getenv("TORCHELASTIC_RESTART_COUNT") != nullptr)
    place.attempt = number_in_environment("TORCHELASTIC_RESTART_COUNT", 0, kMaxAttempts);
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
  if (const int error = problem_of_connecting(descriptor_, address); error != 0) {
    close(descriptor_);
    throw std::runtime_error(
        std::string(
            "this machine's loopback interface (127.0.0.1), which the processes use to meet, is missing or down: ") +
        std::strerror(error));
  }
  port_ = ntohs(address.sin_port);
}

LocalSocket::~LocalSocket() {
  if (descriptor_ >= 0) close(descriptor_);
}

int LocalSocket::release() { return std::exchange(descriptor_, -1); }

}  // namespace cachet::processes
