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
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// The amount of data that an analysis uses.
struct AnalysisOptions {
  int64_t samples = 256;  // number of evaluation samples
  int64_t steps = 150;    // number of replayed training steps, including the steps of the normality tests
  int64_t batch = 16;     // evaluation samples per batch; the same for all runs, so that their batches are equal
};

/// The inputs of an analysis in addition to the model: the evaluation samples, or replayed training steps.
enum class AnalysisEffort { samples, steps };

/// The image files that a measurement has read (by split and index), and a digest of the files' bytes.
struct ImagesRead {
  std::map<std::string, std::vector<int64_t>> images{};
  std::string digest{};
};

/// A run under analysis. Applies the run's model to evaluation samples, and repeats the first training steps of the
/// run. After an analysis, restores the weights and the state of the model.
class AnalysedRun {
 public:
  /// Opens a run. `name` is the name of the run in tables and pages. `settings` has the settings for open_saved_run().
  /// Throws the errors of open_saved_run(), and io::Error for an export, because the layers of an export cannot be
  /// examined.
  AnalysedRun(std::string name, const std::filesystem::path& path, const std::vector<std::string>& settings,
              const AnalysisOptions& options, c10::Device device);

  const std::string& name() const { return name_; }
  const SavedRun& saved() const { return saved_; }
  const AnalysisOptions& options() const { return options_; }
  /// Returns a digest of everything that affects an analysis (the weights of all the run's checkpoints, the settings
  /// that affect predictions, and the data), except the bytes of image files. Opens the data.
  const std::string& digest(AnalysisEffort effort);
  /// Starts recording a digest of the bytes of each image file that is read.
  void keep_image_digests(AnalysisEffort effort);
  /// Returns the image files that were read since keep_image_digests().
  ImagesRead images_read(AnalysisEffort effort);
  /// Returns a digest of the present bytes of the image files that `images` lists by split and index. Returns an empty
  /// text if the data lack one of the splits or indices.
  std::string digest_of_images(AnalysisEffort effort, const std::map<std::string, std::vector<int64_t>>& images);

  /// Returns the task that evaluates the samples of the analysis, in evaluation mode. The first call of evaluation()
  /// opens the task.
  Task& evaluation();
  torch::nn::Module& model() { return evaluation().model(); }
  /// Returns the number of samples that evaluation() uses: the requested number, or all samples if there are fewer.
  /// Returns an empty value if no analysis has opened the evaluation.
  std::optional<int64_t> samples() const;
  /// Describes the samples: "16 evaluation samples of 33, drawn by seed 0". Returns an empty text if no analysis has
  /// opened samples.
  std::string samples_text() const;
  /// Returns the seed of the random choices of analyses, such as the choice of shown samples. The seed is the recipe's
  /// data.subset_seed, which also selects the evaluation samples; 0 if the task does not select samples by a seed.
  uint64_t seed() const { return saved_.plan.task->seed_of_samples().value_or(0); }
  /// Returns the step of the analysed checkpoint. Returns an empty value if the path is not the folder of a run.
  std::optional<int64_t> step() const;
  /// Returns the task in its state at the beginning of training. The first call of training() opens the task.
  Task& training();

  /// Returns the metrics of evaluation(). If set, `listener` gets intermediate tensors in float32 or higher precision.
  train::Metrics evaluate(const nn::Listener& listener, const train::EvaluationProgress& progress);

  /// The metrics of evaluation(), and the records of the samples if the task has records (EvaluatesRecords).
  struct RecordedEvaluation {
    train::Metrics metrics;
    std::vector<Record> records{};
  };
  RecordedEvaluation evaluate_with_records(const train::EvaluationProgress& progress);

  /// Replays training steps. Calls `look` with the task's model before the first step. After each step, calls the
  /// function `after_step` that `look` has returned. A step is the forward and backward pass of a micro-batch in
  /// training mode, at its position in the run's data, without an update of the weights.
  struct Replay {
    nn::Listener listener;
    std::function<void()> after_step = [] {};
  };
  void replay(const std::function<Replay(torch::nn::Module& model)>& look, const train::EvaluationProgress& progress);

  /// Returns the checkpoints of the run's folder, oldest first, and locks them while they are in use. Returns an empty
  /// list if the folder has only one checkpoint, or if the path is not the folder of a run.
  std::vector<train::HeldCheckpoint> saved_checkpoints() const;
  /// For each checkpoint of saved_checkpoints(), loads its weights into `model` and calls `look` with its step.
  /// `model` must be the model of evaluation() or training(). After the last call, `model` gets its own weights
  /// again.
  void over_checkpoints(torch::nn::Module& model, const std::function<void(int64_t step)>& look) const;

 private:
  std::unique_ptr<Task> opened(const SavedRun& saved, Splits splits) const;
  Task& task_of(AnalysisEffort effort) { return effort == AnalysisEffort::steps ? training() : evaluation(); }

  std::string name_, digest_;                        // digest_: digest without the data
  std::map<AnalysisEffort, std::string> digests_{};  // filled by the first call of digest()
  std::filesystem::path path_;
  std::vector<std::string> settings_;
  AnalysisOptions options_;
  c10::Device device_;
  SavedRun saved_;
  std::unique_ptr<Task> evaluation_, training_;
};

/// Restores the buffers of a model when this object is destroyed. While a BuffersKept object exists, other code may
/// change the buffers of its model.
class BuffersKept {
 public:
  explicit BuffersKept(torch::nn::Module& model);
  BuffersKept(const BuffersKept&) = delete;
  BuffersKept& operator=(const BuffersKept&) = delete;
  ~BuffersKept();

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> kept_;  // buffers and their former values
};

}  // namespace cachet::tasks
