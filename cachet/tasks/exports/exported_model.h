#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/models/model_plan.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/session.h"
#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

/// A function that makes the session which replaces a model.
using MakeSession = std::function<std::unique_ptr<runtime::Session>()>;

/// The interface of a task's plan that accepts an exported model instead of a model with weights.
class TakesExportedModel {
 public:
  virtual ~TakesExportedModel() = default;
  /// Makes build() create tasks that have no weights, and that compute with the sessions that `make` returns.
  virtual void replace_model(const runtime::ExportManifest& manifest, MakeSession make) = 0;
  /// Returns the manifest, with the recipe's maximum length and vocabulary size if the manifest lacks them.
  virtual runtime::ExportManifest with_limits(const runtime::ExportManifest& manifest) const { return manifest; }
};

/// Returns a copy of `plan` whose tasks compute with the sessions that `make` returns instead of a model. If the model
/// of the task cannot be replaced, throws io::Error, which begins with `name`.
RecipePlan with_sessions(const RecipePlan& plan, const runtime::ExportManifest& manifest, MakeSession make,
                         const std::string& name);

/// Returns a recipe's plan with the model of an exported folder: sessions of the engine, or the rewritten model itself
/// if the export has no graph. Throws the errors of with_sessions(), and io::Error if weights do not fit.
RecipePlan with_exported_model(const RecipePlan& plan, const runtime::ExportManifest& manifest,
                               const std::filesystem::path& folder);

/// Builds the model that an export of `plan` computes: in evaluation mode, and rewritten (deploy/rewrite.h). The
/// weights of the export are not loaded.
std::shared_ptr<models::Model> built_as_exported(const models::ModelPlan& plan);

/// If a setting ("key=value", or a table with several keys) has a key that affects the predictions of an export,
/// returns the pattern of the first such key ("model.*", "data.class_names"); otherwise empty. An export fixes the
/// values of keys that affect its predictions.
std::optional<std::string> fixed_key(const std::string& setting);

/// Returns the settings that an export stores, one for each value: settings of the model, of the preparation of a
/// user's sample, and of the conversion of the model's outputs to predictions. Leaves out all other settings, such as
/// data.root, task.evaluation.limit and the settings of [train].
std::vector<std::string> settings_to_keep(const std::vector<std::string>& settings);

}  // namespace cachet::tasks
