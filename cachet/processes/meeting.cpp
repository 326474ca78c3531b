// How the processes of a run meet: through the store, before anything of a run is exchanged.
#include "cachet/processes/meeting.h"

#include <charconv>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <utility>

#include "cachet/processes/gloo_backend.h"
#include "cachet/processes/store_connection.h"
#include "cachet/processes/store_text.h"

namespace cachet::processes {
namespace {

// Next to the keys of an attempt: what torchrun's store holds of earlier attempts is read too.
constexpr const char* kPrefix = "cachet";

std::string prefix_of_attempt(const ProcessPlace& place) {
  return std::string(kPrefix) + "/attempt " + std::to_string(place.attempt);
}

std::string arrival_key(int64_t rank) { return "arrived/" + std::to_string(rank); }

constexpr const char* kVerdict = "verdict";   // of rank 0: why the processes do not fit together; empty if they do
constexpr const char* kVerdictRead = "read";  // by how many

/// How a process was started, as it writes it into the store.
struct Arrival {
  int64_t size = 0, attempt = 0;
};

std::string text_of(const Arrival& arrival) {
  return std::to_string(arrival.size) + " " + std::to_string(arrival.attempt);
}

std::optional<Arrival> parse_arrival(std::string_view text) {
  Arrival arrival;
  const char* end = text.data() + text.size();
  const auto size = std::from_chars(text.data(), end, arrival.size);
  if (size.ec != std::errc{} || size.ptr == end || *size.ptr != ' ') return std::nullopt;
  const auto attempt = std::from_chars(size.ptr + 1, end, arrival.attempt);
  if (attempt.ec != std::errc{} || attempt.ptr != end) return std::nullopt;
  return arrival;
}

/// One process's part in the meeting.
class Meeting {
 public:
  Meeting(c10::intrusive_ptr<c10d::Store> store, const ProcessPlace& place, const MeetingOptions& options,
          std::chrono::steady_clock::time_point until)
      : common_(c10::make_intrusive<c10d::PrefixStore>(kPrefix, store)),
        of_attempt_(c10::make_intrusive<c10d::PrefixStore>(prefix_of_attempt(place), store)),
        place_(place),
        options_(options),
        until_(until) {}

  const c10::intrusive_ptr<c10d::Store>& store() const { return of_attempt_; }

  /// Throws std::runtime_error if the processes were not started alike, ProcessLost if one does not come.
  void hold() {
    if (of_attempt_->add("started/" + std::to_string(place_.rank), 1) > 1)
      throw std::runtime_error("another process of this run was started with RANK " + std::to_string(place_.rank) +
                               ", too; each process needs its own RANK");
    set_text(*common_, arrival_key(place_.rank), text_of({place_.size, place_.attempt}));
    if (place_.rank == 0)
      lead();
    else
      follow();
  }

 private:
  void lead() {
    Wait wait = limited_wait();
    std::string verdict;
    std::vector<int64_t> absent;
    while (true) {
      absent = look(verdict);
      if (absent.empty() || !verdict.empty()) break;
      if (options_.while_waiting) options_.while_waiting();
      if (!wait.pause([&] { return names_of(absent); })) {
        verdict = not_met(names_of(absent) + " did not arrive");
        give(verdict);
        throw ProcessLost(verdict);
      }
    }
    give(verdict);
    if (!verdict.empty()) throw std::runtime_error(verdict);
  }

  /// A process that finds out by itself that it does not fit leaves without rank 0's verdict.
  void follow() {
    Wait wait = limited_wait();
    while (true) {
      if (const auto verdict = find_text(*of_attempt_, kVerdict)) {
        of_attempt_->add(kVerdictRead, 1);
        if (verdict->empty()) return;
        throw std::runtime_error(*verdict);
      }
      if (const std::string why = objection(0); !why.empty()) {
        of_attempt_->add(kVerdictRead, 1);
        throw std::runtime_error(why);
      }
      if (!wait.pause([&] { return whom(); })) throw ProcessLost(not_met(whom() + " did not arrive"));
    }
  }

  Wait limited_wait() const {
    const auto left = until_ - std::chrono::steady_clock::now();
    return Wait(options_.waiting, std::chrono::duration_cast<std::chrono::milliseconds>(left));
  }

  /// Those that a process which does not lead waits for.
  std::string whom() {
    std::string ignored;
    const std::vector<int64_t> absent = look(ignored);
    return absent.empty() ? "process 0" : names_of(absent);
  }

  /// Those that have not come, by rank; in `verdict`, why one that has come does not fit.
  std::vector<int64_t> look(std::string& verdict) {
    std::vector<int64_t> absent;
    for (int64_t rank = 0; rank < place_.size; ++rank) {
      if (rank == place_.rank) continue;
      if (!has_come(rank)) absent.push_back(rank);
      if (verdict.empty()) verdict = objection(rank);
    }
    return absent;
  }

  std::optional<Arrival> arrival(int64_t rank) {
    const auto text = find_text(*common_, arrival_key(rank));
    return text ? parse_arrival(*text) : std::nullopt;
  }

  bool has_come(int64_t rank) {
    const auto other = arrival(rank);
    return other && other->attempt == place_.attempt;
  }

  /// Why a process that has come does not belong to the same start as this one; empty if it does, or is still to come.
  std::string objection(int64_t rank) {
    const auto other = arrival(rank);
    if (!other) return {};
    if (other->attempt == place_.attempt && other->size == place_.size) return {};
    // torchrun's store still holds what a process wrote in the attempt before.
    if (place_.store_is_served && other->attempt < place_.attempt) return {};
    const bool by_size = other->attempt == place_.attempt;
    const std::string name = by_size ? "WORLD_SIZE " : "TORCHELASTIC_RESTART_COUNT ";
    return "process " + std::to_string(rank) + " was started with " + name +
           std::to_string(by_size ? other->size : other->attempt) + ", but process " + std::to_string(place_.rank) +
           " with " + std::to_string(by_size ? place_.size : place_.attempt) +
           "; start all processes of the run with the same value";
  }

  /// Sends the verdict to the others. A verdict that refuses them waits for a moment until they have read it, also
  /// those that are just about to come: the store may go with this process.
  void give(const std::string& verdict) {
    constexpr auto kTimeToRead = std::chrono::milliseconds(2000);
    set_text(*of_attempt_, kVerdict, verdict);
    if (verdict.empty()) return;
    const auto end = std::chrono::steady_clock::now() + kTimeToRead;
    while (of_attempt_->add(kVerdictRead, 0) < place_.size - 1 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  std::string not_met(const std::string& why) const {
    return "the " + std::to_string(place_.size) + " processes of the run did not meet at " +
           address_of(place_, nullptr) + " within " + std::to_string(options_.join.count()) + " s: " + why;
  }

  c10::intrusive_ptr<c10d::Store> common_, of_attempt_;
  const ProcessPlace& place_;
  const MeetingOptions& options_;
  std::chrono::steady_clock::time_point until_;
};

}  // namespace

std::shared_ptr<ProcessGroup> meet(const ProcessPlace& place, LocalSocket* socket, const MeetingOptions& options) {
  const auto until = std::chrono::steady_clock::now() + options.join;
  ProcessPlace at = place;
  if (socket != nullptr && place.rank == 0) at.port = socket->port();
  Meeting meeting(open_store(at, socket, options, until), at, options, until);
  try {
    meeting.hold();
  } catch (const c10::Error&) {  // of the store
    throw ProcessLost("process 0 ended while the processes were meeting at " + address_of(at, nullptr));
  }
  const auto make_backend = [store = meeting.store(), at, options] { return gloo_backend(store, at, options); };
  return std::make_shared<ProcessGroup>(meeting.store(), at.rank, at.size, make_backend, options.waiting, options.sum);
}

}  // namespace cachet::processes
