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
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// Among the digests of a task's data: the numbers of the training samples that validate (data.validation_fraction).
inline constexpr const char* kValidationIndices = "validation indices";

/// A task as its plan makes it. It knows its profile, and reports the papers' statistics of its model's
/// plug-ins, for any kind of task.
///
/// For other capabilities (classify a user's samples, predict on the evaluation data one by one), a task also derives
/// from an interface of abilities.h.
class Task : public train::TrainingTask {
 public:
  const TaskProfile& profile() const { return profile_; }
  const train::SampleWords& sample_words() const { return profile_.words; }
  train::RunDescription describe() final;

  /// How many samples the metric that decides is measured on, and how many their split has. A limit may leave a part.
  struct EvaluatedSamples {
    int64_t count = 0, split = 0;
  };
  virtual EvaluatedSamples evaluated_samples() const { return {evaluation_size(), evaluation_size()}; }

  /// Class tokens, λ of cached attention (`share`) and position tables.
  std::vector<std::string> without_decay() const override {
    return {"cls_token", "dist_token", "share", "pos_embed*", "relative_position_bias_table", "position_table"};
  }

  /// The series that plug_in_series.h names.
  std::vector<train::Series> observe() override;

  /// The task's own sections, then those on these series; what it is trained on is shown as it was at the first call.
  std::vector<report::Section> report_sections(const std::vector<train::Event>& events,
                                               const train::Status& status) final;

  std::vector<std::string> data_notes() const override { return data_notes_; }

  void settle(const train::RunLength& length) override;
  std::vector<std::string> notes_on_run(const train::RunLength& length) override;

  /// The images that it reads, by the names of its splits; none of a task that reads none.
  virtual std::map<std::string, const data::ImageSource*> image_sources() const { return {}; }
  /// The digest of data that an evaluation compares the model with and that data_digests() does not have; empty without
  /// such data.
  virtual std::string digest_of_comparisons() const { return {}; }

  /// The files that evaluate() opens, as a look at their folder shows them now; none of a task that has read all that
  /// it evaluates with.
  virtual EvaluationFiles evaluation_files() const { return {}; }
  /// Notes how many of evaluation_files() are left out, before the first evaluation. Throws io::Error if one that must
  /// be there cannot be read.
  void check_evaluation_files() { note(checked(evaluation_files())); }

  /// While the task is made: prints the lines for the user, and stores them for the log of a run.
  void note(const std::vector<std::string>& lines);

  /// Notes what of the model is hardly meant, before it is trained: of the first cache that gives reason to.
  void note_doubts();

  /// From here on observe() reports the fraction of normal channels (PNAC) of each norm over its last training passes.
  /// Notes it, if the model has no norm with statistics of its batches.
  void record_normality(int64_t passes);
  void record_passes(bool recorded) override;

 protected:
  explicit Task(TaskProfile profile) : profile_(std::move(profile)) {}

  /// Why a cache is hardly meant to be as it is, a line for the user.
  virtual std::optional<std::string> doubt_about(const nn::Cache& cache) const;

  /// What training feeds the model, for people: the first samples of the first step as the model gets them, a function
  /// of the seed that draws nothing from torch's generators. Called once. If it throws, the page shows the error.
  virtual std::vector<report::Block> training_samples() const { return {}; }
  /// What the last evaluation has to show.
  virtual std::vector<report::Section> evaluation_sections() const { return {}; }
  /// Sections from the log of training, in addition to curves over steps.
  virtual std::vector<report::Section> training_sections(const std::vector<train::Event>& /*events*/) const {
    return {};
  }

 private:
  const report::Section& trained_on();

  TaskProfile profile_;
  std::vector<std::string> data_notes_;
  std::optional<report::Section> trained_on_;  // once it was asked for
  std::unique_ptr<analysis::RecentNormality> normality_;
};

}  // namespace cachet::tasks
