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

/// The error if another process has ended or did not do its part in time. what() names the process if it is known.
class ProcessLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The group of processes that train one model together, seen from one of them. Process 0 leads. All processes make the
/// same calls in the same order. Each communication call waits for all processes. If a process is gone, communication
/// calls throw ProcessLost.
///
/// Before connect(), texts are exchanged only through the store, so that incompatible processes are detected before
/// tensors are moved. From connect() on, texts and tensors are exchanged through the backend.
class ProcessGroup : public ops::BatchReducer {
 public:
  /// A function that creates the communication backend of the processes. The backend must at least be able to move CPU
  /// tensors.
  using MakeBackend = std::function<c10::intrusive_ptr<c10d::Backend>()>;

  /// `store`: a store that all processes can read and write. A process that fails writes the reason to the store.
  ProcessGroup(const c10::intrusive_ptr<c10d::Store>& store, int64_t rank, int64_t size, MakeBackend make_backend,
               WaitingOptions waiting = {}, std::chrono::milliseconds patience = std::chrono::minutes(10));
  /// Uses `backend`, which the caller has already connected.
  ProcessGroup(const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<c10d::Backend>& backend);
  ~ProcessGroup() override;

  /// Connects this process with all other processes through the backend. If the backend is not connected yet,
  /// all_reduce() and broadcast() of a number also connect it.
  void connect();

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  bool leads() const { return rank_ == 0; }

  /// Sums `sums` over all processes, with bitwise equal results on each. With Gloo, the host sums even GPU tensors.
  void all_reduce(at::Tensor& sums) override;

  /// Sends rank 0's number or text to all processes. While rank 0 runs, the other processes wait without a time limit,
  /// for example during rank 0's evaluation. Rank 0 waits until all other processes have called broadcast().
  int64_t broadcast(int64_t word);
  std::string broadcast(const std::string& text);

  /// Collects the bytes of all processes in rank 0, which returns them in the order of the ranks. In processes other
  /// than rank 0, returns an empty list.
  std::vector<std::string> gather(const std::string& bytes);

  /// Stores the reason why this process ends. The other processes read the reason when their collective calls fail.
  void tell_failure(const std::string& why) noexcept;

  /// If a call takes longer than `patience`, the first of the waiting processes reports the missing processes, and
  /// repeats this every ten seconds. A process that is stuck inside a call is also reported as missing. Processes that
  /// wait during rank 0's evaluation report nothing. `say` is called inside all_reduce(), gather() and rank 0's
  /// broadcast(), and only with Gloo. A call with an empty function `say` ends the reports.
  void name_stragglers(std::function<void(const std::string& line)> say,
                       std::chrono::milliseconds patience = std::chrono::seconds(8));

  /// Sets a function that returns the reason why another process is gone. Only the process that started the other
  /// processes sets such a function.
  void ask_about_lost(std::function<std::optional<std::string>()> fate) { fate_ = std::move(fate); }

 private:
  template <class Call>
  void together(const char* what, const Call& call);
  /// Waits for the end of `call`, a collective call of all processes.
  void wait_for_all(c10d::Work& call, bool names_stragglers);
  /// Sends rank 0's tensor to all processes. The call sums the tensors of all processes, so all other ranks pass zeros.
  void broadcast_tensor(const at::Tensor& said);
  /// Before connect(), broadcast() of a text and gather() call the next two functions, which use the store.
  std::string text_from_store(const std::string& text);
  std::vector<std::string> texts_through_store(const std::string& bytes);
  /// Waits until every other process has called sign_that_it_waits() for the current call.
  void wait_for_signs(const char* what);
  /// Throws ProcessLost if a process is known to have failed or ended.
  void require_all_alive() const;
  /// Writes a new text (a sign) to the store, which shows other processes that this process waits in the current call.
  void sign_that_it_waits() noexcept;
  /// Returns the text that each process wrote last with sign_that_it_waits(), in the order of the ranks: an empty text
  /// for this process, and for a process that has not written a text yet. Throws if the store no longer exists.
  std::vector<std::string> signs() const;
  /// Stores the result of signs(), with which missing() compares later signs.
  void look_at_signs() noexcept;
  /// Returns the ranks without a sign (see signs()) for this call, or without a new sign since look_at_signs().
  std::vector<int64_t> missing(const std::vector<std::string>& signs) const;
  void name_missing(std::chrono::steady_clock::duration waited) noexcept;
  std::string late_names() const;
  /// Returns the reason that a failed process left in the store, or the way in which a process ended.
  std::optional<std::string> known_failure() const;
  /// Return the text of the error for a failed communication call, with the reason if the reason is known.
  std::string why_not_connected(const std::string& cause) const;
  std::string why_lost(const char* what, const std::string& cause) const;

  struct Links;
  std::unique_ptr<Links> links_;
  int64_t rank_, size_;
  WaitingOptions waiting_;
  std::chrono::milliseconds store_patience_ = std::chrono::minutes(10);  // time limit of rank 0 when it waits
  bool through_host_ = true;
  int64_t call_ = 0;  // number of the last call in which all processes take part
  int64_t signs_left_ = 0;
  std::vector<std::string> earlier_signs_;  // signs at the last check of this call; empty before
  std::function<void(const std::string&)> say_of_stragglers_;
  std::chrono::milliseconds patience_ = std::chrono::seconds(8);
  std::function<std::optional<std::string>()> fate_ = [] { return std::nullopt; };
};

using Processes [[deprecated("ProcessGroup")]] = ProcessGroup;

}  // namespace cachet::processes
