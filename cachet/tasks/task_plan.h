#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/data_digest.h"
#include "cachet/tasks/data_look.h"
#include "cachet/tasks/task.h"
#include "cachet/train/options.h"

namespace cachet::tasks {

/// The data that a task opens.
enum class Splits {
  both,
  test,         // only evaluation data, and statistics of the training data if the recipe needs them
  synthetic,    // noise instead of data: two training batches and one evaluation batch
  calibration,  // training samples instead of evaluation samples, prepared like evaluation samples
  given,        // data for a user's samples: only the source of class names, if there is one
  made_up [[deprecated("synthetic")]] = synthetic
};

/// A folder from which a recipe reads data.
struct DataPlace {
  std::string kind;            // "cifar10"
  std::filesystem::path root;  // path in the recipe; empty if the recipe does not set it
  std::string files;           // description of the files that the folder should contain
};

/// Files that a run copies or computes, so that the trained model does not depend on files in other folders.
struct SavedFiles {
  std::map<std::string, std::string> files;  // bytes of each file, by its name in the run's folder
  std::vector<std::string> settings;         // settings "key=value" with which the recipe uses these files
  /// The digests of the data splits from which `files` were computed. If `files` are only copies of other files, the
  /// map is empty.
  std::map<std::string, data::DataDigest> digests{};
  /// Returns the digests of the data splits in the form of version 0.1.0.
  std::function<std::map<std::string, std::string>()> fingerprints{};
};
using KeptFiles [[deprecated("SavedFiles")]] = SavedFiles;

/// The task that a recipe describes: the recipe is read, but the task is not built yet.
class TaskPlan {
 public:
  virtual ~TaskPlan() = default;
  virtual std::unique_ptr<TaskPlan> copy() const = 0;

  virtual TaskProfile profile() const = 0;

  /// Returns the paths of the task's data; empty if the task generates its data.
  virtual std::vector<DataPlace> data() const { return {}; }
  /// If the data cannot be read because their folder does not exist, returns the error message. Otherwise, returns an
  /// empty value.
  virtual std::optional<std::string> absent_data() const { return std::nullopt; }

  /// Opens the splits of the data and compares them with each other. Returns an empty result if the task generates its
  /// data, or cannot compare the splits. If data cannot be read, throws the errors of build().
  virtual DataLook look_at_data(const data::LookProgress& /*progress*/) const { return {}; }

  /// Returns the files that a run stores. Throws io::Error if a file that the recipe names cannot be read.
  virtual SavedFiles files_to_keep() const { return {}; }
  /// Returns settings "key=value" by which a recipe uses the run's copies of files_to_keep(); empty without copies.
  virtual std::vector<std::string> saved_file_settings(const std::filesystem::path& /*run*/) const { return {}; }
  /// Returns the keys of a recipe whose values the plan would compute from training data, because neither the recipe
  /// nor the run has the values: "data.normalization.mean and data.normalization.std". If the plan would compute no
  /// value from training data, returns std::nullopt.
  virtual std::optional<std::string> keys_from_training_data() const { return std::nullopt; }

  /// Returns a setting "key=value" with the class names of the model, for another recipe of this model; empty if there
  /// are no names, or if the recipe leaves the names to the data.
  virtual std::vector<std::string> class_name_settings() const { return {}; }

  /// The amount of training data of a whole step, in the unit in which the batch size is given.
  struct StepSize {
    int64_t count = 0;
    std::string unit;  // "images"
  };
  virtual StepSize step_size(const train::TrainOptions& training) const {
    return {training.batch_size * training.accumulate, profile().words.many};
  }

  /// Returns settings "key=value" for an evaluation that passes the same samples through the model in batches of
  /// `batch`, and leaves out slower work such as translation.
  virtual std::vector<std::string> settings_for_batches_of(int64_t batch) const {
    return {"train.batch_size=" + std::to_string(batch)};
  }

  /// Returns the value of data.limit in the unit of this key; 0 means all samples. If the task has no key data.limit,
  /// returns std::nullopt.
  virtual std::optional<int64_t> data_limit() const { return std::nullopt; }
  /// Returns the value of data.limit with which about `samples` samples are used.
  virtual int64_t limit_for(int64_t samples) const { return samples; }
  /// Returns task.evaluation.limit, which limits only evaluations during training; 0 means no limit.
  virtual int64_t training_evaluation_limit() const { return 0; }
  /// Limits evaluations to `limit` samples, in the unit of data.limit; 0 means the whole split. `limit` overrides the
  /// limit of the recipe, but changes neither the training data nor the values that are computed from them.
  virtual void limit_evaluation(int64_t /*limit*/) {}
  /// If the data have no test split, makes evaluations use all samples of the data instead of a held-out part. Call the
  /// function only for data on which the model was not trained.
  virtual void evaluate_all() {}
  /// Returns the seed by which an evaluation with a limit draws its samples, or an empty value if an evaluation with a
  /// limit takes the first samples.
  virtual std::optional<uint64_t> seed_of_samples() const { return std::nullopt; }

  /// Returns settings "key=value" that select the current evaluation rules, if a recipe can select the rules of 0.1.0.
  virtual std::vector<std::string> current_rules() const { return {}; }

  /// Reduces the plan to a few synthetic samples, and to data loaders without workers. Changes neither the model nor
  /// the processing of a sample.
  virtual void reduce() {}

  /// The size of a micro-batch, from which the memory of a training step is estimated.
  struct BatchCount {
    std::string key;              // key that sets the size: "train.batch_size"
    int64_t value = 0;            // value of the key
    int64_t value_of_sample = 1;  // amount by which a sample of the largest size increases `value`
    int64_t samples = 0;          // number of samples of the largest size
  };
  virtual BatchCount batch_count(const train::TrainOptions& training) const {
    return {"train.batch_size", training.batch_size, 1, training.batch_size};
  }
  /// Makes synthetic samples as large as the recipe allows samples to be.
  virtual void enlarge_samples() {}
  /// Returns the number of batches that the loader of training data prepares ahead.
  virtual int64_t batches_ahead() const { return 0; }

  /// Opens the data of the task and builds its model, with random weights. Throws io::Error if data cannot be read,
  /// std::invalid_argument if they do not fit the model.
  virtual std::unique_ptr<Task> build(const train::TrainOptions& training, Splits splits) const = 0;
};

}  // namespace cachet::tasks
