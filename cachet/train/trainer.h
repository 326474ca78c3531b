#pragma once

#include <memory>
#include <string>

#include "cachet/io/files/file_system.h"
#include "cachet/processes/process_group.h"
#include "cachet/train/options.h"
#include "cachet/train/step/step_executor.h"
#include "cachet/train/training_task.h"

namespace cachet::report {
class Progress;
}

namespace cachet::train {

class RunFolder;

/// The result of Trainer::run().
struct Outcome {
  StopReason ending = StopReason::finished;
  std::string message;  // message for the user (one or two lines) for not_finite and failed
  int64_t step = 0;
  Metrics metrics;     // metrics of the last evaluation
  std::string result;  // last and best evaluation: "test top-1 81.23 ± 0.91 % (best 82.04 % in epoch 2)"; or empty
  double seconds = 0;  // duration of the run, over all resumes, including evaluations

  /// Returns 130 for interrupted (but commands use Interruption::exit_code()), 1 for not_finite and failed, else 0.
  int exit_code() const;
};

/// Trains a task in a run folder: accumulation, clipping, averaging, schedule, step lines, evaluations, checkpoints.
///
/// Between two optimizer steps, the trainer checks whether something is due, in this order: a step line, an evaluation,
/// a checkpoint, an ending. A checkpoint is saved before each evaluation; later, the results of the evaluation are
/// added to it. A signal of Interruption::kSignals ends the run after the current step.
class Trainer {
 public:
  /// If the folder has a complete checkpoint, training continues from the newest one. `progress` may be null. In a
  /// multi-process run, only rank 0 has a Trainer, which evaluates, saves and writes the folder; the other processes
  /// call run_worker() (joint_training.h). The Trainer uses `file_system` to write the files that a resumed run reads.
  /// If `executor` is given, it runs the device work of the steps (DeviceStep).
  Trainer(TrainingTask& task, const Options& options, RunFolder& folder, report::Progress* progress,
          std::shared_ptr<processes::ProcessGroup> processes = nullptr,
          io::FileSystem& file_system = io::FileSystem::real(), std::unique_ptr<StepExecutor> executor = nullptr);
  ~Trainer();

  /// Runs the training. If the task throws or the disk fails (std::system_error), rewrites the report and rethrows.
  Outcome run();

  int64_t total_steps() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace cachet::train
