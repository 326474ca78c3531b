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

/// Makes the session that stands in for a model.
using MakeSession = std::function<std::unique_ptr<runtime::Session>()>;

/// A plan whose model can be one that was exported.
class TakesExportedModel {
 public:
  virtual ~TakesExportedModel() = default;
  /// What is built from now on computes by sessions, and has no weights of its own.
  virtual void replace_model(const runtime::ExportManifest& manifest, MakeSession make) = 0;
  /// The manifest with the limits of lengths and token ids that the recipe has, if an earlier version wrote neither.
  virtual runtime::ExportManifest with_limits(const runtime::ExportManifest& manifest) const { return manifest; }
};

/// A recipe's plan with sessions instead of its model. Throws io::Error, which begins with `name`, for a task
/// whose model cannot be replaced.
RecipePlan with_sessions(const RecipePlan& plan, const runtime::ExportManifest& manifest, MakeSession make,
                         const std::string& name);

/// A recipe's plan with the model of an exported folder: the rewritten model itself if it is not a graph, otherwise
/// sessions of the engine. Throws as with_sessions() does, and io::Error for weights that do not fit.
RecipePlan with_exported_model(const RecipePlan& plan, const runtime::ExportManifest& manifest,
                               const std::filesystem::path& folder);

/// The model that an export of this one computes, in evaluation: rewritten as it was when it was exported. Its weights
/// are not those of the export.
std::shared_ptr<models::Model> built_as_exported(const models::ModelPlan& plan);

/// The first key of a setting ("key=value", also of a table) that the answers of an export depend on, as a pattern:
/// "model.*", "data.class_names"; nothing if there is none. An export has these values itself, and they stay.
std::optional<std::string> fixed_key(const std::string& setting);

/// Of these settings, those that an export keeps, one for each value: what the model is, what becomes of a sample that
/// is given, and how the task decides. The others choose the data of one command, and how they are computed.
std::vector<std::string> settings_to_keep(const std::vector<std::string>& settings);

}  // namespace cachet::tasks
