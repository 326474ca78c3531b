#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/analysis/statistics/recent_normality.h"
#include "cachet/data/vision/image_source.h"
#include "cachet/nn/cache/cache.h"
#include "cachet/tasks/evaluation_files.h"
#include "cachet/tasks/task_profile.h"
#include "cachet/train/inference/replayed_inference.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// The name of the digest of the indices of the training samples that data.validation_fraction selects for validation.
inline constexpr const char* kValidationIndices = "validation indices";

/// A task, made by the plan of a recipe. Each task has a profile(), and reports statistics of the plug-ins of its model
/// (norms, caches, attention functions), as the papers of the plug-ins define the statistics.
///
/// A task with other capabilities (to classify a user's samples, to predict on the evaluation data one by one) also
/// derives from the interfaces of abilities.h.
class Task : public train::TrainingTask {
 public:
  const TaskProfile& profile() const { return profile_; }
  const train::SampleWords& sample_words() const { return profile_.words; }
  train::RunDescription describe() final;

  /// The number of evaluated samples on which the deciding metric is computed (`count`), and the number of samples in
  /// their split (`split`). If the evaluation is limited, `count` may be smaller than `split`.
  struct EvaluatedSamples {
    int64_t count = 0, split = 0;
  };
  virtual EvaluatedSamples evaluated_samples() const { return {evaluation_size(), evaluation_size()}; }

  /// Returns the names of the parameters to which no weight decay is applied: class tokens, λ of cached attention (the
  /// parameter `share`), and position tables.
  std::vector<std::string> without_decay() const override {
    return {"cls_token", "dist_token", "share", "pos_embed*", "relative_position_bias_table", "position_table"};
  }

  /// Returns the series that plug_in_series.h names.
  std::vector<train::Series> observe() override;

  /// Returns the task's own sections, then plug_in_sections(). In later calls, the sections show the training samples
  /// of the first call.
  std::vector<report::Section> report_sections(const std::vector<train::Event>& events,
                                               const train::Status& status) final;

  std::vector<std::string> data_notes() const override { return data_notes_; }

  void settle(const train::RunLength& length) override;
  std::vector<std::string> notes_on_run(const train::RunLength& length) override;

  /// Returns the image sources by the names of their splits; empty if the task reads no images.
  virtual std::map<std::string, const data::ImageSource*> image_sources() const { return {}; }
  /// Returns a digest of further data with which an evaluation compares the model, such as the training text of a
  /// baseline. Returns an empty text if the evaluation uses no further data, or if data_digests() covers these data.
  virtual std::string digest_of_comparisons() const { return {}; }

  /// Returns the files that evaluate() opens, in their present state; empty if the task has already read all evaluation
  /// data.
  virtual EvaluationFiles evaluation_files() const { return {}; }
  /// Before the first evaluation, prints a note on the number of evaluation_files() that are left out. Throws io::Error
  /// if a required file cannot be read.
  void check_evaluation_files() { note(checked(evaluation_files())); }

  /// Prints the lines for the user, and stores them for the log of a run. note() is called while the task is made.
  void note(const std::vector<std::string>& lines);

  /// If caches are probably unintended, prints a note about the first such cache. Must be called before training.
  void note_doubts();

  /// Makes observe() report the fraction of normal channels (PNAC) of each norm over its last training passes. If the
  /// model has no norm with batch statistics, prints a note.
  void record_normality(int64_t passes);
  void record_passes(bool recorded) override;

  std::optional<std::string> why_inference_not_replayed() override { return why_not_replayed(); }
  void replay_inference(std::shared_ptr<train::StepExecutor> executor) override;

 protected:
  explicit Task(TaskProfile profile) : profile_(std::move(profile)) {}

  /// Runs the passes of evaluations and predictions.
  train::ReplayedInference& inference() { return inference_; }

  /// Returns the reason why a cache is probably unintended, as a line for the user.
  virtual std::optional<std::string> doubt_about(const nn::Cache& cache) const;

  /// Returns the first samples of the first step as the model gets them, as pictures or texts for people. The samples
  /// are a function of the seed; torch's generators are not used. training_samples() is called once. If
  /// training_samples() throws, the page of the run shows the error.
  virtual std::vector<report::Block> training_samples() const { return {}; }
  /// Returns the sections on the last evaluation.
  virtual std::vector<report::Section> evaluation_sections() const { return {}; }
  /// Returns sections of the run's page that show the training log, in addition to the curves over steps.
  virtual std::vector<report::Section> training_sections(const std::vector<train::Event>& /*events*/) const {
    return {};
  }

 private:
  const report::Section& trained_on();

  TaskProfile profile_;
  std::vector<std::string> data_notes_;
  std::optional<report::Section> trained_on_;  // set by the first use
  std::unique_ptr<analysis::RecentNormality> normality_;
  train::ReplayedInference inference_;
};

}  // namespace cachet::tasks
