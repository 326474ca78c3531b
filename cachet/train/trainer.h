#pragma once

#include <memory>
#include <string>

#include "cachet/io/files/file_system.h"
#include "cachet/processes/process_group.h"
#include "cachet/train/options.h"
#include "cachet/train/training_task.h"

namespace cachet::report {
class Progress;
}

namespace cachet::train {

class RunFolder;

/// How Trainer::run() ended.
struct Outcome {
  StopReason ending = StopReason::finished;
  std::string message;  // for not_finite and failed: a line or two for the user
  int64_t step = 0;
  Metrics metrics;     // of the last evaluation
  std::string result;  // of the last and of the best: "test top-1 81.23 ± 0.91 % (best 82.04 % in epoch 2)"; or empty
  double seconds = 0;  // that the run took so far, over all its parts, evaluations included

  /// 0; 1 for not_finite; 130 for interrupted, which the command replaces by Interruption::exit_code().
  int exit_code() const;
};

/// Trains a task in a run folder: accumulation, clipping, averaging, schedule, step lines, evaluations, checkpoints.
///
/// Between two optimizer steps it looks for what is due, in this order: a step line, an evaluation, a checkpoint, an
/// ending. A checkpoint is saved before each evaluation, and what the evaluation found is added to it afterwards.
/// A signal of Interruption::kSignals ends the run after the current step.
class Trainer {
 public:
  /// If the folder has a whole checkpoint, training continues from the newest. `progress` may be null. In a
  /// multi-process run, only rank 0 has a Trainer, which evaluates, saves and writes the folder; the others call
  /// run_worker() (joint_training.h). Files that a resume reads are written through `file_system`.
  Trainer(TrainingTask& task, const Options& options, RunFolder& folder, report::Progress* progress,
          std::shared_ptr<processes::ProcessGroup> processes = nullptr,
          io::FileSystem& file_system = io::FileSystem::real());
  ~Trainer();

  /// Throws what the task throws and std::system_error for a disk that fails, after the report is rewritten.
  Outcome run();

  int64_t total_steps() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace cachet::train
