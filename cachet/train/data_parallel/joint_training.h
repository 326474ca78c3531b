#pragma once

#include <c10/core/DeviceType.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cachet/processes/process_group.h"
#include "cachet/train/options.h"
#include "cachet/train/training_task.h"

/// How processes train one model together. All have the model, and each has a part of every batch. Rank 0 is a Trainer:
/// before each act that concerns the others it sends them a command, which they run. Within a step, TrainingStep and
/// the modules that sum over a batch exchange values (nn::use_batch_reducer).
namespace cachet::train {

/// The next act of rank 0.
enum class Command : int64_t { step, give_state, renew_average, leave };

/// What all processes of a run have to have in common.
struct RunIdentity {
  std::string config_hash;                       // of the recipe
  c10::DeviceType device;                        // two kinds round differently
  std::map<std::string, data::DataDigest> data;  // by split
  int64_t accumulate = 1;                        // which config_hash leaves out if parts have states of their own
};

/// Compares with the other processes; all of them call it. Throws std::runtime_error, in all of them, if one has
/// another recipe, other data or another version, naming it. Nothing is written: a run's folder is made after it.
void agree(const RunIdentity& own, processes::ProcessGroup& processes);

/// The side of rank 0. Without other processes it does nothing.
class Leader {
 public:
  explicit Leader(std::shared_ptr<processes::ProcessGroup> processes) : processes_(std::move(processes)) {}

  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// Calls `say` with each process that lets the others wait for more than a few seconds.
  void name_stragglers(std::function<void(const std::string& line)> say);

  int64_t processes() const { return processes_ ? processes_->size() : 1; }

  /// Waits for all; then they continue from the checkpoint, or begin. If one has another recipe, other data or another
  /// version, std::runtime_error naming it is thrown in all of them.
  void begin(const RunIdentity& own, const std::optional<std::filesystem::path>& checkpoint);
  /// An act of this process that the others take part in, and what comes of it.
  template <class Function>
  auto lead(Command act, const Function& function) {
    they_wait_ = false;
    announce(act);
    auto result = function();
    they_wait_ = true;
    return result;
  }
  /// The run has ended, however: the others end, too, or, where an act was not finished, find this process gone.
  void leave() noexcept;

 private:
  void announce(Command act);

  std::shared_ptr<processes::ProcessGroup> processes_;
  bool they_wait_ = false;  // for the next act
};

/// The side of the other ranks: trains the task until rank 0 ends. A signal that asks this process to stop makes rank 0
/// stop after the current step. Returns whether a signal came. Throws NotFinite as rank 0 does, the task's exceptions,
/// processes::ProcessLost.
bool run_worker(TrainingTask& task, const Options& options, const std::string& config_hash,
                const std::shared_ptr<processes::ProcessGroup>& processes);

}  // namespace cachet::train
