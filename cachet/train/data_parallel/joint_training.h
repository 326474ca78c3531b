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

/// How processes train one model together. All have the model, and each a part of every batch. The leader is a Trainer:
/// before each of its acts that concerns the others it says which it is, and they follow. What they exchange within a
/// step is TrainingStep's and that of the modules that sum over a batch (nn::use_replicas).
namespace cachet::train {

/// What the leader does next.
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

/// The leader's side. Without other processes it does nothing.
class Leader {
 public:
  explicit Leader(std::shared_ptr<processes::ProcessGroup> processes) : processes_(std::move(processes)) {}

  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// Who keeps the others waiting for more than a few seconds is told to `say`.
  void name_stragglers(std::function<void(const std::string& line)> say);

  int64_t processes() const { return processes_ ? processes_->size() : 1; }

  /// Waits for all; then they go on from the checkpoint, or begin. Throws std::runtime_error, in all of them, where one
  /// has another recipe, other data or another version, naming it.
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

/// The others' side: trains the task until the leader leaves. A signal that asks this process to stop makes the leader
/// stop behind the step under way. Returns whether one came. Throws NotFinite as the leader does, what the task throws,
/// processes::ProcessLost.
bool run_worker(TrainingTask& task, const Options& options, const std::string& config_hash,
                const std::shared_ptr<processes::ProcessGroup>& processes);

}  // namespace cachet::train
