#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/ops/support/batch_reducer.h"
#include "cachet/processes/waiting.h"

namespace c10d {
class Backend;
class Store;
class Work;
}  // namespace c10d

namespace cachet::processes {

/// Another process of a run has ended, or did not give its part in time. If that process is known, what() names it.
class ProcessLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The processes that train one model together, of which this is one. Process 0 leads. All of them make the same calls
/// in the same order; each call waits until all have made it, and throws ProcessLost where one of them is gone.
///
/// Before connect(), texts are exchanged through the store alone, so that processes that do not fit together find it
/// out before they move a tensor. From connect() on, everything is exchanged through the backend.
class ProcessGroup : public ops::BatchReducer {
 public:
  /// Makes what moves tensors between the processes, those of the CPU at least.
  using MakeBackend = std::function<c10::intrusive_ptr<c10d::Backend>()>;

  /// `store`: all processes can read and write it; a process that fails leaves the reason there.
  ProcessGroup(const c10::intrusive_ptr<c10d::Store>& store, int64_t rank, int64_t size, MakeBackend make_backend,
               WaitingOptions waiting = {}, std::chrono::milliseconds patience = std::chrono::minutes(10));
  /// With a backend of the caller's own, which is connected already.
  ProcessGroup(const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<c10d::Backend>& backend);
  ~ProcessGroup() override;

  /// Connects the backend of all processes. If it is not connected yet, all_reduce() and a number from rank 0 also
  /// connect it.
  void connect();

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  bool leads() const { return rank_ == 0; }

  /// As in BatchReducer: the same bits in every process, on any device. Tensors that Gloo reduces go through the host.
  void all_reduce(at::Tensor& sums) override;

  /// Sends rank 0's word to all processes. The others wait as long as rank 0 runs, for example during its evaluation.
  /// Rank 0 waits until all others have made this call.
  int64_t broadcast(int64_t word);
  std::string broadcast(const std::string& text);

  /// Returns the bytes of each process, by rank, in rank 0; nothing in the others.
  std::vector<std::string> gather(const std::string& bytes);

  /// Leaves word of why this process ends, for the others to find: their calls fail when it is gone.
  void tell_failure(const std::string& why) noexcept;

  /// If a call takes longer than `patience`, the first of the waiting processes names the processes that they wait for,
  /// and again every ten seconds. A process that is held up inside a call is named, too. Processes that wait during
  /// rank 0's evaluation report nothing. `say` is called inside all_reduce(), gather() and rank 0's broadcast(), and
  /// only with Gloo. An empty `say` ends the reports.
  void name_stragglers(std::function<void(const std::string& line)> say,
                       std::chrono::milliseconds patience = std::chrono::seconds(8));

  /// Asks `fate` too why another process is gone: of one that started them and sees how they end.
  void ask_about_lost(std::function<std::optional<std::string>()> fate) { fate_ = std::move(fate); }

 private:
  template <class Call>
  void together(const char* what, const Call& call);
  /// Waits for a call to which each process adds its part.
  void wait_for_all(c10d::Work& call, bool names_stragglers);
  /// In: rank 0's tensor, and zeros in the others. Out: rank 0's tensor.
  void broadcast_tensor(const at::Tensor& said);
  /// broadcast() and gather() before the backend is connected.
  std::string text_from_store(const std::string& text);
  std::vector<std::string> texts_through_store(const std::string& bytes);
  /// Waits until every process has left its sign in this call.
  void wait_for_signs(const char* what);
  /// Throws ProcessLost if a process is known to have failed or ended.
  void require_all_alive() const;
  /// Leaves a new sign that this process waits in this call, for the others to see.
  void sign_that_it_waits() noexcept;
  /// The last sign of each process, by rank; empty for none and for this process. Throws if the store is gone.
  std::vector<std::string> signs() const;
  /// Keeps the signs of now, to compare later ones with.
  void look_at_signs() noexcept;
  /// The ranks of the processes without a sign in this call, or without one since the last check.
  std::vector<int64_t> missing(const std::vector<std::string>& signs) const;
  void name_missing(std::chrono::steady_clock::duration waited) noexcept;
  std::string late_names() const;
  /// The reason that a failed process left in the store, or how it ended.
  std::optional<std::string> known_failure() const;
  /// What is known of why a call failed.
  std::string why_not_connected(const std::string& cause) const;
  std::string why_lost(const char* what, const std::string& cause) const;

  struct Links;
  std::unique_ptr<Links> links_;
  int64_t rank_, size_;
  WaitingOptions waiting_;
  std::chrono::milliseconds store_patience_ = std::chrono::minutes(10);  // of rank 0, for the others
  bool through_host_ = true;
  int64_t call_ = 0;  // of those that wait for all
  int64_t signs_left_ = 0;
  std::vector<std::string> earlier_signs_;  // of this call, as of the last look; empty before it
  std::function<void(const std::string&)> say_of_stragglers_;
  std::chrono::milliseconds patience_ = std::chrono::seconds(8);
  std::function<std::optional<std::string>()> fate_ = [] { return std::nullopt; };
};

using Processes [[deprecated("ProcessGroup")]] = ProcessGroup;

}  // namespace cachet::processes
