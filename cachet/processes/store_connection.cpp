#include "cachet/processes/store_connection.h"

#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <memory>
#include <string_view>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "cachet/config/utf8.h"

namespace cachet::processes {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The answer of an address.
enum class Listener { unknown_host, none, some };

/// A socket of its own until the end of the scope.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

bool accepts_connections(const addrinfo& address) {
  constexpr int kWaitMilliseconds = 2000;
  const Descriptor own(socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (own.get() < 0) return false;
  if (connect(own.get(), address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd waiting{own.get(), POLLOUT, 0};
  int error = 0;
  socklen_t size = sizeof error;
  return poll(&waiting, 1, kWaitMilliseconds) == 1 && getsockopt(own.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
         error == 0;
}

Listener look_at(const ProcessPlace& place) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &wanted, &found) != 0)
    return Listener::unknown_host;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next)
    if (accepts_connections(*each)) return Listener::some;
  return Listener::none;
}

/// Why a process has not found the store yet.
std::string seen(Listener listener, const ProcessPlace& place, const std::string& address) {
  switch (listener) {
    case Listener::unknown_host:
      return "MASTER_ADDR is " + config::printable(place.host) + ", but there is no such host";
    case Listener::none:
      return "nothing listens at " + address;
    case Listener::some:
      return "the program that listens at " + address + " does not answer";
  }
  return {};
}

/// In this thread, and in those that it starts. The store's server answers by write(2): if a process has ended
/// meanwhile, SIGPIPE would end this one, too.
void hold_back_sigpipe() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

/// A client of the store, with its server if the settings ask for it, that is made in a thread of its own: the
/// constructor waits for ever for a server that accepts connections and does not answer. The thread is left to itself
/// if this object does not wait for it any longer.
class StoreAttempt {
 public:
  StoreAttempt(const std::string& host, const c10d::TCPStoreOptions& settings) {
    auto promise = std::make_shared<std::promise<c10::intrusive_ptr<c10d::TCPStore>>>();
    result_ = promise->get_future();
    std::thread([promise, host, settings] {
      hold_back_sigpipe();
      try {
        promise->set_value(c10::make_intrusive<c10d::TCPStore>(host, settings));
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    }).detach();
  }

  bool ends_within(milliseconds time) { return result_.wait_for(time) == std::future_status::ready; }
  /// Throws exceptions of LibTorch.
  c10::intrusive_ptr<c10d::TCPStore> take() { return result_.get(); }

 private:
  std::future<c10::intrusive_ptr<c10d::TCPStore>> result_;
};

c10d::TCPStoreOptions settings_of(const ProcessPlace& place, milliseconds timeout) {
  c10d::TCPStoreOptions settings;
  settings.port = place.port;
  settings.numWorkers = static_cast<size_t>(place.size);
  settings.waitWorkers = false;
  settings.timeout = timeout;
  return settings;
}

/// Connects to the store, and reports while it is not there.
class Connection {
 public:
  Connection(const ProcessPlace& place, const MeetingOptions& options, Clock::time_point until)
      : place_(place), options_(options), until_(until), address_(address_of(place, nullptr)) {}

  c10::intrusive_ptr<c10d::Store> open() {
    while (true) {
      StoreAttempt attempt(place_.host, settings_of(place_, std::min(options_.waiting.report_every, left())));
      // An attempt that continues for longer waits for a server that does not answer.
      while (!attempt.ends_within(options_.waiting.report_every + kGrace)) report_or_give_up();
      try {
        auto store = attempt.take();
        store->setTimeout(options_.join);
        return store;
      } catch (const std::exception& error) {
        if (std::string_view(error.what()).find("Ping failed") != std::string_view::npos)
          throw ProcessLost("the program that listens at " + address_ +
                            " is not the store of this run's processes; check whether another program uses the port");
      }
      report_or_give_up();
    }
  }

 private:
  static constexpr milliseconds kGrace{500};
  static constexpr milliseconds kMinTry{100};  // none at all would be for ever
  static constexpr milliseconds kBetween{200};

  milliseconds left() const {
    return std::max(kMinTry, std::chrono::duration_cast<milliseconds>(until_ - Clock::now()));
  }

  void report_or_give_up() {
    const Listener listener = look_at(place_);
    const Clock::time_point now = Clock::now();
    if (now >= until_)
      throw ProcessLost("the " + std::to_string(place_.size) + " processes of the run did not meet at " + address_ +
                        " within " + std::to_string(options_.join.count()) + " s: " + seen(listener, place_, address_));
    if (now < next_report_) return std::this_thread::sleep_for(kBetween);
    next_report_ = now + options_.waiting.report_every;
    if (!options_.waiting.report) return;
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
    options_.waiting.report("waiting for process 0: " + seen(listener, place_, address_) + " (" +
                            std::to_string(waited) + " s)");
  }

  const ProcessPlace& place_;
  const MeetingOptions& options_;
  Clock::time_point until_, start_ = Clock::now(), next_report_ = start_ + options_.waiting.report_every;
  std::string address_;
};

constexpr milliseconds kOwnStore = std::chrono::seconds(10);  // a process reaches what it serves at once

c10::intrusive_ptr<c10d::Store> serve_store(const ProcessPlace& place, LocalSocket* socket,
                                            const MeetingOptions& options) {
  c10d::TCPStoreOptions settings = settings_of(place, kOwnStore);
  settings.isServer = true;
  if (socket != nullptr) {
    settings.port = socket->port();
    settings.masterListenFd = socket->release();
  }
  const std::string port = std::to_string(settings.port);
  std::string said;
  try {
    if (StoreAttempt attempt(place.host, settings); attempt.ends_within(2 * kOwnStore)) {
      auto store = attempt.take();
      store->setTimeout(options.join);
      return store;
    }
  } catch (const std::exception& error) {
    said = error.what();
  }
  if (said.find("EADDRINUSE") != std::string::npos)
    throw std::runtime_error("another program on this machine uses port " + port +
                             ", at which the processes should meet; set another MASTER_PORT for all processes");
  if (said.find("EACCES") != std::string::npos)
    throw std::runtime_error("this user is not allowed to listen at port " + port +
                             ", at which the processes should meet; set a MASTER_PORT above 1023 for all processes");
  throw std::runtime_error("process 0 cannot reach its own store, which it serves for all processes, at " +
                           address_of(place, nullptr) +
                           "; check that MASTER_ADDR is this machine and that its network interface is up");
}

}  // namespace

std::string address_of(const ProcessPlace& place, const LocalSocket* socket) {
  return config::printable(place.host) + ":" + std::to_string(socket == nullptr ? place.port : socket->port());
}

c10::intrusive_ptr<c10d::Store> open_store(const ProcessPlace& place, LocalSocket* socket,
                                           const MeetingOptions& options, Clock::time_point until) {
  if (place.rank == 0 && !place.store_is_served) return serve_store(place, socket, options);
  return Connection(place, options, until).open();
}

}  // namespace cachet::processes
