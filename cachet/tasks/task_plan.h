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
  test,         // evaluation alone; statistics of the training data are then only read where the recipe asks for them
  synthetic,    // no data: noise instead, two batches to train with and one to evaluate
  calibration,  // training samples instead of those of the evaluation, prepared like these
  given,        // none, for samples that somebody gives, but for what names their classes where it is there
  made_up [[deprecated("synthetic")]] = synthetic
};

/// A folder that a recipe reads data from.
struct DataPlace {
  std::string kind;            // "cifar10"
  std::filesystem::path root;  // as the recipe has it; empty where the recipe leaves it open
  std::string files;           // what should lie there, in words
};

/// What a run keeps a copy of, so that what it learnt does not depend on files elsewhere.
struct SavedFiles {
  std::map<std::string, std::string> files;  // name in the run's folder and bytes
  std::vector<std::string> settings;         // "key=value" that hold the recipe to them
  /// The digests of the splits that the files were computed from; empty if they are copies.
  std::map<std::string, data::DataDigest> digests{};
  /// The same as version 0.1.0 computed them.
  std::function<std::map<std::string, std::string>()> fingerprints{};
};
using KeptFiles [[deprecated("SavedFiles")]] = SavedFiles;

/// The task of a recipe, read and not built yet.
class TaskPlan {
 public:
  virtual ~TaskPlan() = default;
  virtual std::unique_ptr<TaskPlan> copy() const = 0;

  virtual TaskProfile profile() const = 0;

  /// The paths of its data; nothing for a task that makes its own.
  virtual std::vector<DataPlace> data() const { return {}; }
  /// Why they cannot be read: the folder is nowhere. Nothing where there is such a folder.
  virtual std::optional<std::string> absent_data() const { return std::nullopt; }

  /// Opens the splits and compares them. Nothing of a task that makes its own data, or does not know how to. Throws as
  /// build() does for data that cannot be read.
  virtual DataLook look_at_data(const data::LookProgress& /*progress*/) const { return {}; }

  /// Throws io::Error where a file that the recipe names cannot be read.
  virtual SavedFiles files_to_keep() const { return {}; }
  /// "key=value" that name the copies that a run has of them; nothing where it has none.
  virtual std::vector<std::string> saved_file_settings(const std::filesystem::path& /*run*/) const { return {}; }
  /// The keys of a recipe whose values the plan would compute from training data, because neither the recipe nor the
  /// run has them: "data.normalization.mean and data.normalization.std". Nothing if there are none.
  virtual std::optional<std::string> keys_from_training_data() const { return std::nullopt; }

  /// "key=value" that name the classes of its model in another recipe for the same model; nothing where it has none, or
  /// leaves them to the data.
  virtual std::vector<std::string> class_name_settings() const { return {}; }

  /// How much training data a whole step takes, in the unit that batches are counted in.
  struct StepSize {
    int64_t count = 0;
    std::string unit;  // "images"
  };
  virtual StepSize step_size(const train::TrainOptions& training) const {
    return {training.batch_size * training.accumulate, profile().words.many};
  }

  /// "key=value" that make an evaluation look at each sample as before, at `batch` of them at once. Work that takes
  /// longer than looking at them, such as translating, is left out.
  virtual std::vector<std::string> settings_for_batches_of(int64_t batch) const {
    return {"train.batch_size=" + std::to_string(batch)};
  }

  /// data.limit in its unit, 0 = all samples; nothing if the task does not know the key.
  virtual std::optional<int64_t> data_limit() const { return std::nullopt; }
  /// The data.limit that keeps about so many samples.
  virtual int64_t limit_for(int64_t samples) const { return samples; }
  /// task.evaluation.limit, which limits evaluations during training alone; 0: none.
  virtual int64_t training_evaluation_limit() const { return 0; }
  /// Limits evaluations to `limit` samples, in the unit of data.limit, or to the whole split for 0. This overrides the
  /// recipe. It changes neither the training data nor what is computed of them.
  virtual void limit_evaluation(int64_t /*limit*/) {}
  /// For data that the model was not trained on: evaluations look at all of it if the run has held a part of its own
  /// training data out instead of test data.
  virtual void evaluate_all() {}
  /// The seed that draws the samples that a limit of the evaluation keeps; nothing if a limit keeps the first samples.
  virtual std::optional<uint64_t> seed_of_samples() const { return std::nullopt; }

  /// "key=value" that make an evaluation measure by today's rules, if the recipe may ask for rules of version 0.1.0.
  virtual std::vector<std::string> current_rules() const { return {}; }

  /// Makes it small, for a few synthetic samples: no workers. The model and the processing of a sample do not
  /// change.
  virtual void reduce() {}

  /// How large a micro-batch is, for an estimate of its memory.
  struct BatchCount {
    std::string key;              // that sets it: "train.batch_size"
    int64_t value = 0;            // of the key
    int64_t value_of_sample = 1;  // by which a sample of the largest size raises it
    int64_t samples = 0;          // of the largest size
  };
  virtual BatchCount batch_count(const train::TrainOptions& training) const {
    return {"train.batch_size", training.batch_size, 1, training.batch_size};
  }
  /// Makes synthetic samples as large as the recipe lets samples become.
  virtual void enlarge_samples() {}
  /// How many batches the loader of training data prepares ahead.
  virtual int64_t batches_ahead() const { return 0; }

  /// Opens the data and builds the model, with weights drawn at random. Throws io::Error for data that cannot be read,
  /// std::invalid_argument where they do not fit the model.
  virtual std::unique_ptr<Task> build(const train::TrainOptions& training, Splits splits) const = 0;
};

}  // namespace cachet::tasks
