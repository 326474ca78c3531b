#include "cachet/processes/process_group.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

#include "cachet/config/library_message.h"
#include "cachet/processes/gloo_backend.h"
#include "cachet/processes/store_text.h"

namespace cachet::processes {
namespace {

// A rank 0 that evaluates for days is not gone: one that is gone ends its connections.
constexpr std::chrono::milliseconds kAsLongAsItTakes = std::chrono::hours(24 * 365);

constexpr const char* kGone = "another process has ended";
constexpr size_t kMaxReason = 2000;  // bytes of a message that another process left

// A process that waits for the others leaves a new sign this often. Most calls take less, and ask nothing of the store.
constexpr std::chrono::milliseconds kSign = std::chrono::seconds(1);
constexpr int kSignsOfLife = 3;  // a process that leaves no new sign in the time of so many of them is held up
constexpr std::chrono::milliseconds kTimeToRead(300);
constexpr std::chrono::milliseconds kAMoment(1);  // none at all is for ever
constexpr std::chrono::milliseconds kAgain = std::chrono::seconds(10);

constexpr const char* kFailed = "failed";  // holds the rank of a process that has left word of its failure

std::string failure_key(int64_t rank) { return "failure/" + std::to_string(rank); }

std::string waits_key(int64_t rank) { return "waits/" + std::to_string(rank); }

/// Whether the call ended within so long. Throws what it failed for.
bool ends_within(c10d::Work& call, std::chrono::milliseconds time) {
  try {
    call.wait(time);
  } catch (const std::exception&) {
    if (!call.isCompleted()) return false;
    call.wait();
  }
  return true;
}

at::Tensor byte_tensor(const std::string& bytes, int64_t size) {
  at::Tensor tensor = at::zeros({size}, at::kByte);
  std::memcpy(tensor.mutable_data_ptr(), bytes.data(), std::min(bytes.size(), static_cast<size_t>(size)));
  return tensor;
}

std::string text_of(const at::Tensor& bytes, int64_t size) {
  return {static_cast<const char*>(bytes.const_data_ptr()), static_cast<size_t>(size)};
}

}  // namespace

struct ProcessGroup::Links {
  c10::intrusive_ptr<c10d::Store> store;
  MakeBackend make_backend;
  c10::intrusive_ptr<c10d::Backend> backend;  // null before connect()
};

ProcessGroup::ProcessGroup(const c10::intrusive_ptr<c10d::Store>& store, int64_t rank, int64_t size,
                           MakeBackend make_backend, WaitingOptions waiting, std::chrono::milliseconds patience)
    : links_(std::make_unique<Links>(Links{store, std::move(make_backend), nullptr})),
      rank_(rank),
      size_(size),
      waiting_(std::move(waiting)),
      store_patience_(patience) {}

ProcessGroup::ProcessGroup(const c10::intrusive_ptr<c10d::Store>& store,
                           const c10::intrusive_ptr<c10d::Backend>& backend)
    : ProcessGroup(store, backend->getRank(), backend->getSize(), [backend] { return backend; }) {
  connect();
}

ProcessGroup::~ProcessGroup() = default;

void ProcessGroup::connect() {
  if (links_->backend || size_ == 1) return;
  ++call_;
  sign_that_it_waits();
  try {
    links_->backend = links_->make_backend();
  } catch (const CannotConnect&) {  // of this process alone, which reports it to the others
    throw;
  } catch (const std::exception& error) {
    throw ProcessLost(why_not_connected(error.what()));
  }
  through_host_ = links_->backend->getBackendName() == "gloo";
}

template <class Call>
void ProcessGroup::together(const char* what, const Call& call) {
  const at::NoGradGuard no_grad;
  try {
    call();
  } catch (const std::exception& error) {
    throw ProcessLost(why_lost(what, error.what()));
  }
}

void ProcessGroup::all_reduce(at::Tensor& sums) {
  if (size_ == 1 || sums.numel() == 0) return;
  connect();
  together("all-reducing sums", [&] {
    at::Tensor moved = through_host_ ? sums.cpu().contiguous() : sums.contiguous();
    std::vector<at::Tensor> tensors{moved};
    wait_for_all(*links_->backend->allreduce(tensors), true);
    if (!moved.is_same(sums)) sums.copy_(moved);
  });
}

int64_t ProcessGroup::broadcast(int64_t word) {
  if (size_ == 1) return word;
  connect();
  const at::Tensor said = at::full({1}, leads() ? word : 0, at::kLong);
  broadcast_tensor(said);
  return *said.const_data_ptr<int64_t>();
}

std::string ProcessGroup::broadcast(const std::string& text) {
  if (size_ == 1) return text;
  if (!links_->backend) return text_from_store(text);
  const int64_t size = broadcast(static_cast<int64_t>(text.size()));
  if (size == 0) return {};
  const at::Tensor bytes = byte_tensor(leads() ? text : std::string(), size);
  broadcast_tensor(bytes);
  return text_of(bytes, size);
}

void ProcessGroup::broadcast_tensor(const at::Tensor& said) {
  // A sum, because a broadcast ends in some processes before it ends in others. Then no process could find out which
  // one is late.
  together("waiting for the next command", [&] {
    c10d::AllreduceOptions options;
    if (!leads()) options.timeout = kAsLongAsItTakes;
    std::vector<at::Tensor> tensors{said};
    wait_for_all(*links_->backend->allreduce(tensors, options), leads());
  });
}

std::vector<std::string> ProcessGroup::gather(const std::string& bytes) {
  if (size_ == 1) return {bytes};
  if (!links_->backend) return texts_through_store(bytes);
  at::Tensor sizes = at::zeros({size_}, at::kLong);
  sizes.mutable_data_ptr<int64_t>()[rank_] = static_cast<int64_t>(bytes.size());
  all_reduce(sizes);
  const int64_t* size = sizes.const_data_ptr<int64_t>();
  const int64_t most = *std::max_element(size, size + size_);
  std::vector<std::vector<at::Tensor>> outputs;
  if (leads()) {
    outputs.emplace_back();
    for (int64_t rank = 0; rank < size_; ++rank) outputs.back().push_back(at::empty({most}, at::kByte));
  }
  if (most > 0) {
    together("gathering the data of all processes", [&] {
      std::vector<at::Tensor> inputs{byte_tensor(bytes, most)};
      wait_for_all(*links_->backend->gather(outputs, inputs, c10d::GatherOptions{}), true);
    });
  }
  std::vector<std::string> all;
  if (leads())
    for (int64_t rank = 0; rank < size_; ++rank)
      all.push_back(text_of(outputs[0][static_cast<size_t>(rank)], size[rank]));
  return all;
}

std::string ProcessGroup::text_from_store(const std::string& text) {
  constexpr const char* kWhat = "waiting for the next command";
  const std::string key = "text/" + std::to_string(++call_);
  if (leads()) {
    together(kWhat, [&] { set_text(*links_->store, key, text); });
    wait_for_signs(kWhat);
    return text;
  }
  Wait wait(waiting_);
  std::optional<std::string> said;
  while (true) {
    require_all_alive();
    together(kWhat, [&] { said = find_text(*links_->store, key); });
    if (said) break;
    wait.pause([] { return names_of({0}); });
  }
  sign_that_it_waits();  // it has read it: rank 0 may leave
  return *said;
}

std::vector<std::string> ProcessGroup::texts_through_store(const std::string& bytes) {
  constexpr const char* kWhat = "gathering the data of all processes";
  const std::string key = "texts/" + std::to_string(++call_) + "/";
  std::vector<std::string> all;
  if (!leads()) {
    together(kWhat, [&] { set_text(*links_->store, key + std::to_string(rank_), bytes); });
    sign_that_it_waits();
    return all;
  }
  wait_for_signs(kWhat);
  all.push_back(bytes);
  for (int64_t rank = 1; rank < size_; ++rank)
    together(kWhat, [&] { all.push_back(find_text(*links_->store, key + std::to_string(rank)).value_or("")); });
  return all;
}

void ProcessGroup::wait_for_signs(const char* what) {
  Wait wait(waiting_, store_patience_);
  std::vector<int64_t> absent;
  while (true) {
    together(what, [&] { absent = missing(signs()); });
    if (absent.empty()) return;
    require_all_alive();
    if (!wait.pause([&] { return names_of(absent); }))
      throw ProcessLost(names_of(absent) + " did not answer in time (" + what + ")");
  }
}

void ProcessGroup::require_all_alive() const {
  std::optional<std::string> failure;
  try {
    failure = known_failure();
  } catch (const std::exception&) {  // the store went with rank 0: the next call reports it
  }
  if (!failure) return;
  if (leads()) std::this_thread::sleep_for(kTimeToRead);  // the others learn of it too before the store goes
  throw ProcessLost(*failure);
}

void ProcessGroup::name_stragglers(std::function<void(const std::string& line)> say,
                                   std::chrono::milliseconds patience) {
  say_of_stragglers_ = std::move(say);
  patience_ = patience;
}

void ProcessGroup::wait_for_all(c10d::Work& call, bool names_stragglers) {
  ++call_;
  earlier_signs_.clear();
  if (!through_host_) {
    call.wait();
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto between = std::min(kSign, patience_ / (kSignsOfLife + 1));
  if (ends_within(call, between)) return;
  // Leaves signs until then. Whether the call has ended.
  const auto ends_before = [&](std::chrono::steady_clock::time_point until) {
    while (true) {
      sign_that_it_waits();
      const auto left = until - std::chrono::steady_clock::now();
      const auto whole =
          std::chrono::ceil<std::chrono::milliseconds>(left);  // rounded up, so that it never ends too early
      if (ends_within(call, std::clamp(whole, kAMoment, between))) return true;
      if (left <= between) return false;
    }
  };
  for (std::chrono::milliseconds until = patience_;; until += kAgain) {
    if (ends_before(start + until - kSignsOfLife * between)) return;
    look_at_signs();
    if (ends_before(start + until)) return;
    if (names_stragglers && say_of_stragglers_) name_missing(std::chrono::steady_clock::now() - start);
  }
}

void ProcessGroup::sign_that_it_waits() noexcept {
  try {
    set_text(*links_->store, waits_key(rank_), std::to_string(call_) + " " + std::to_string(++signs_left_));
  } catch (...) {  // the store is gone with rank 0: the call will fail for it
  }
}

std::vector<std::string> ProcessGroup::signs() const {
  std::vector<std::string> found(static_cast<size_t>(size_));
  for (int64_t rank = 0; rank < size_; ++rank)
    if (rank != rank_) found[static_cast<size_t>(rank)] = find_text(*links_->store, waits_key(rank)).value_or("");
  return found;
}

void ProcessGroup::look_at_signs() noexcept {
  try {
    earlier_signs_ = signs();
  } catch (...) {  // the store is gone with rank 0: the call will fail for it
    earlier_signs_.clear();
  }
}

std::vector<int64_t> ProcessGroup::missing(const std::vector<std::string>& signs) const {
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    const std::string& sign = signs[static_cast<size_t>(rank)];
    int64_t call = 0;
    std::from_chars(sign.data(), sign.data() + sign.size(), call);
    // One that is held up while it waits has left a sign in this call, and leaves no further one.
    const bool silent = !earlier_signs_.empty() && earlier_signs_[static_cast<size_t>(rank)] == sign;
    if (call < call_ || (call == call_ && silent)) ranks.push_back(rank);
  }
  return ranks;
}

void ProcessGroup::name_missing(std::chrono::steady_clock::duration waited) noexcept {
  try {
    const std::vector<int64_t> ranks = missing(signs());
    // The first of those that wait reports it, for all.
    int64_t first = 0;
    while (std::find(ranks.begin(), ranks.end(), first) != ranks.end()) ++first;
    if (ranks.empty() || first != rank_) return;
    say_of_stragglers_("the other processes have waited " +
                       std::to_string(std::chrono::duration_cast<std::chrono::seconds>(waited).count()) + " s for " +
                       names_of(ranks));
  } catch (...) {  // no report: the call itself will fail with the reason
  }
}

void ProcessGroup::tell_failure(const std::string& why) noexcept {
  try {
    set_text(*links_->store, failure_key(rank_), why.substr(0, kMaxReason));
    set_text(*links_->store, kFailed, std::to_string(rank_));
    // The store goes with rank 0: the others get the time to read it.
    if (leads() && !links_->backend) std::this_thread::sleep_for(kTimeToRead);
  } catch (...) {  // the store is gone with rank 0
  }
}

std::string ProcessGroup::late_names() const {
  try {
    if (const std::vector<int64_t> ranks = missing(signs()); !ranks.empty()) return names_of(ranks);
  } catch (const std::exception&) {  // of a store that went with rank 0
  }
  return "another process";
}

std::optional<std::string> ProcessGroup::known_failure() const {
  if (links_->store->check({kFailed})) {
    for (int64_t rank = 0; rank < size_; ++rank) {
      if (rank == rank_) continue;
      if (const auto said = find_text(*links_->store, failure_key(rank)))
        return "process " + std::to_string(rank) + " failed: " + *said;
    }
  }
  return fate_();
}

std::string ProcessGroup::why_not_connected(const std::string& cause) const {
  const std::string why = why_lost("connecting", cause);
  if (why != kGone + std::string(" (connecting)")) return why;
  return "the processes have found each other, but Gloo cannot connect them: " + config::plain_message(cause) +
         "; set GLOO_SOCKET_IFNAME to the network interface that Gloo should use";
}

std::string ProcessGroup::why_lost(const char* what, const std::string& cause) const {
  // A process that fails reports it before it ends, and those that it leaves may ask before that has arrived.
  constexpr int kLooks = 10;
  try {
    for (int look = 0; look < kLooks; ++look) {
      if (const auto failure = known_failure()) return *failure;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  } catch (const std::exception&) {  // of a store that went with rank 0
    return "process 0 has ended (" + std::string(what) + ")";
  }
  const bool late = cause.find("imed out") != std::string::npos || cause.find("timeout") != std::string::npos;
  return late ? late_names() + " did not answer in time (" + what + ")" : std::string(kGone) + " (" + what + ")";
}

}  // namespace cachet::processes
