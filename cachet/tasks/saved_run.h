#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/io/files/folder_lock.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

/// A model on the disk, trained, imported or exported: which checkpoint, and what it was made with. Of a model folder
/// and of an export, which have no checkpoints, both paths are the folder.
struct SavedRun {
  std::filesystem::path run, checkpoint;
  RecipePlan plan;                                    // as resolved for the run, with the settings over it
  std::string recipe;                                 // the same as TOML
  std::optional<runtime::ExportManifest> exported{};  // of an export, whose model computes by the engine that it names
  /// The recipe's values that an answer depends on, as TOML: how fast and how long a run was trained is not among them,
  /// nor is where the data lie, nor a key that its recipe does not have, which stands at its default.
  std::string what_answers_depend_on;
  /// The same as version 0.1.0 may have had it: with the path of the data, with and without keys at their defaults.
  std::vector<std::string> old_answer_values{};
  /// Why nothing can be computed of samples: a value that the run took from its training data is not known. A line for
  /// the user, which load() throws.
  std::optional<std::string> lack{};
  /// The lock of a checkpoint: training does not remove it while this object, or a copy of it, exists.
  std::optional<io::FolderLock> held{};
};

/// Finds what a path means: a run's folder (its best checkpoint, else its last), one checkpoint of it, a model folder
/// (weights/model_folder.h), which knows how an image is prepared and not where images lie: its data.root is empty; or
/// an export (exports/model_export.h). `settings` lie over the run's recipe, as --set does. Throws std::runtime_error
/// where there is no checkpoint, config::Error for settings that are wrong.
///
/// A run of an earlier version may lack a file that a run of today keeps (TaskPlan::files_to_keep). If its training
/// data are there and have the run's digest, the file is computed once, stored in the run, and a line reports this.
SavedRun open_saved_run(const std::filesystem::path& path, const std::vector<std::string>& settings = {});

/// The plan alone of what open_saved_run takes, of a folder of seeds, or of a run that has no checkpoint yet. Throws as
/// it does.
RecipePlan read_saved_plan(const std::filesystem::path& path, const std::vector<std::string>& settings = {});

/// Its weights, the averaged ones where there are any. Throws train::DamagedCheckpoint, io::Error; an export has none.
io::TensorMap read_weights(const SavedRun& saved);

/// The SHA-256 of the file of these weights, as its manifest or config.json has it; of an export that of the model.
/// Throws as read_weights() does.
std::string weights_digest(const SavedRun& saved);

/// A model on the disk without its data: what it is, and its weights.
struct SavedModel {
  models::ModelPlan plan;
  io::TensorMap weights;
  std::string source{};  // "run 1f0c…" by its id, whichever checkpoint; "model 9f86…" by the SHA-256 of its weights
};
/// Takes what open_saved_run takes; a model folder needs no settings here. Throws as these do.
SavedModel open_saved_model(const std::filesystem::path& path);

/// Builds its task and loads the weights, the averaged ones where there are any; the model is in evaluation mode.
/// Throws train::DamagedCheckpoint, and io::Error for weights that do not fit the recipe and for SavedRun::lack.
std::unique_ptr<Task> load(const SavedRun& saved, Splits splits = Splits::test);

}  // namespace cachet::tasks
