#pragma once

#include <c10/core/DeviceType.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/processes/process_group.h"
#include "cachet/train/options.h"
#include "cachet/train/training_task.h"

/// Processes that train one model together. Every process has the model and a part of every batch. Rank 0 runs a
/// Trainer. Before each action of all processes (such as a step), rank 0 sends a command to the other processes, which
/// run it. During a step, TrainingStep and modules that sum over a batch exchange values between the processes
/// (nn::use_batch_reducer).
namespace cachet::train {

/// The next operation in which all processes take part, as a command that rank 0 sends to the other processes.
enum class Command : int64_t { step, give_state, renew_average, leave, give_faults };

/// The settings that all processes of a run must have in common.
struct RunIdentity {
  std::string config_hash;                       // hash of the recipe
  c10::DeviceType device;                        // different kinds of device round differently
  std::map<std::string, data::DataDigest> data;  // digests by split
  int64_t accumulate = 1;                        // left out of config_hash if parts have states of their own
};

/// Compares the recipe, the data and the version of all processes. All processes must call this function. If a process
/// has another recipe, other data or another version, all processes throw std::runtime_error, which names that process.
/// Writes nothing: a run's folder is created later.
void agree(const RunIdentity& own, processes::ProcessGroup& processes);

/// The work that only rank 0 does in joint training. Does nothing if there are no other processes.
class Leader {
 public:
  explicit Leader(std::shared_ptr<processes::ProcessGroup> processes) : processes_(std::move(processes)) {}

  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// Calls `say` with a line for each process that delays the other processes for more than a few seconds.
  void name_stragglers(std::function<void(const std::string& line)> say);

  int64_t processes() const { return processes_ ? processes_->size() : 1; }

  /// Waits for all processes, which then begin the run or continue from `checkpoint`. If a process has another recipe,
  /// other data or another version, all processes throw std::runtime_error, which names that process.
  void begin(const RunIdentity& own, const std::optional<std::filesystem::path>& checkpoint);
  /// Makes the other processes run `act`, calls `function` in this process and returns the result of `function`.
  template <class Function>
  auto lead(Command act, const Function& function) {
    they_wait_ = false;
    announce(act);
    auto result = function();
    they_wait_ = true;
    return result;
  }
  /// Collects the faults of data that the other processes found (TrainingTask::take_data_faults()) in this process.
  /// Must be called in a function of lead(Command::give_faults, …).
  std::vector<std::string> gather_faults() const;
  /// Makes all processes except rank 0 end the run. While a command runs, leave() does nothing, because the other
  /// processes then notice by themselves that this process has left.
  void leave() noexcept;

 private:
  void announce(Command act);

  std::shared_ptr<processes::ProcessGroup> processes_;
  bool they_wait_ = false;  // whether the other processes wait for the next act
};

/// Trains the task in a process of a rank above 0, until rank 0 ends. If a signal asks this process to stop, rank 0
/// stops after the current step. Returns whether a signal asked this process to stop. If rank 0 throws NotFinite,
/// run_worker() throws it too. Also throws the task's exceptions and processes::ProcessLost.
bool run_worker(TrainingTask& task, const Options& options, const std::string& config_hash,
                const std::shared_ptr<processes::ProcessGroup>& processes);

}  // namespace cachet::train
