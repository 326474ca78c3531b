#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/nn/base/observer.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// How much an analysis looks at.
struct AnalysisOptions {
  int64_t samples = 256;  // evaluation samples
  int64_t steps = 150;    // training steps that are replayed, and of which normality is asked
  int64_t batch = 16;     // evaluation samples at once: the same for all runs, so that they see the same batches
};

/// What an analysis depends on in addition to the model: the evaluation samples, or training steps that are replayed.
enum class AnalysisEffort { samples, steps };

/// Image files that a measurement has read, by split and number, and a digest of their bytes.
struct ImagesRead {
  std::map<std::string, std::vector<int64_t>> images{};
  std::string digest{};
};

/// A run that is looked at: its model over evaluation samples, and over the training steps that it would begin with.
/// Weights and state are afterwards what they were.
class AnalysedRun {
 public:
  /// name: what tables and pages call it. settings: as open_saved_run has them. Throws as it does, and io::Error for an
  /// export, of which nothing inside can be seen.
  AnalysedRun(std::string name, const std::filesystem::path& path, const std::vector<std::string>& settings,
              const AnalysisOptions& options, c10::Device device);

  const std::string& name() const { return name_; }
  const SavedRun& saved() const { return saved_; }
  const AnalysisOptions& options() const { return options_; }
  /// A digest of all that an analysis depends on except the bytes of image files: the weights, those of the run's other
  /// checkpoints, the settings that predictions depend on, and the data. Opens the data.
  const std::string& digest(AnalysisEffort effort);
  /// From now on the bytes of image files count as they are read.
  void keep_image_digests(AnalysisEffort effort);
  /// Those that were read since then.
  ImagesRead images_read(AnalysisEffort effort);
  /// Of the bytes of these image files as they are now; empty where there are not so many.
  std::string digest_of_images(AnalysisEffort effort, const std::map<std::string, std::vector<int64_t>>& images);

  /// Over the first samples of its evaluation, in evaluation mode. Opened when it is first asked for.
  Task& evaluation();
  torch::nn::Module& model() { return evaluation().model(); }
  /// How many samples evaluation() looks at: as many as were asked for, or all that there are. Nothing if no analysis
  /// has opened it.
  std::optional<int64_t> samples() const;
  /// Which samples these are: "16 evaluation samples of 33, drawn by seed 0". Empty if no analysis has opened them.
  std::string samples_text() const;
  /// Draws what an analysis looks at more closely: the recipe's data.subset_seed, which also draws the evaluation
  /// samples; 0 of a task whose samples are not drawn.
  uint64_t seed() const { return saved_.plan.task->seed_of_samples().value_or(0); }
  /// As its training begins. Opened when it is first asked for.
  Task& training();

  /// Metrics of these samples, while `listener` (may be none) hears what passes through the model, in float32 or wider.
  train::Metrics evaluate(const nn::Listener& listener, const train::EvaluationProgress& progress);

  /// Calls `look` with the task before its first step. Its result is called after each replayed step: forward and
  /// backward pass of a micro-batch in training mode, at its position in the run's data, without an update of the
  /// weights.
  struct Replay {
    nn::Listener listener;
    std::function<void()> after_step = [] {};
  };
  void replay(const std::function<Replay(torch::nn::Module& model)>& look, const train::EvaluationProgress& progress);

  /// The checkpoints that the run keeps, oldest first, held while they are in use; none if it keeps one, or if it is
  /// not a run's folder.
  std::vector<train::HeldCheckpoint> saved_checkpoints() const;
  /// Calls `look` with the step of each of checkpoints(), whose weights `model`, of this run's evaluation or
  /// training, then has; afterwards it has its own.
  void over_checkpoints(torch::nn::Module& model, const std::function<void(int64_t step)>& look) const;

 private:
  std::unique_ptr<Task> opened(const SavedRun& saved, Splits splits) const;
  Task& task_of(AnalysisEffort effort) { return effort == AnalysisEffort::steps ? training() : evaluation(); }

  std::string name_, digest_;                        // the latter without the data
  std::map<AnalysisEffort, std::string> digests_{};  // once they were asked for
  std::filesystem::path path_;
  std::vector<std::string> settings_;
  AnalysisOptions options_;
  c10::Device device_;
  SavedRun saved_;
  std::unique_ptr<Task> evaluation_, training_;
};

/// While it lives, state of a model may be changed: its buffers are put back.
class BuffersKept {
 public:
  explicit BuffersKept(torch::nn::Module& model);
  BuffersKept(const BuffersKept&) = delete;
  BuffersKept& operator=(const BuffersKept&) = delete;
  ~BuffersKept();

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> kept_;  // the buffer, what it held
};

}  // namespace cachet::tasks
