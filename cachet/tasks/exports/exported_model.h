#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "cachet/models/model_plan.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/session.h"

namespace cachet::tasks {

/// Makes the session that stands in for a model.
using MakeSession = std::function<std::unique_ptr<runtime::Session>()>;

/// A plan whose model can be one that was exported.
class TakesExportedModel {
 public:
  virtual ~TakesExportedModel() = default;
  /// What is built from now on computes by sessions, and has no weights of its own.
  virtual void replace_model(const runtime::ExportManifest& manifest, MakeSession make) = 0;
};

/// How the model of an exported folder is run. `plan` is the recipe's model: of exports for LibTorch it is built and
/// rewritten as it was when the weights were written. Throws io::Error for weights that do not fit.
MakeSession session_of(const std::filesystem::path& folder, const runtime::ExportManifest& manifest,
                       const models::ModelPlan& plan);

}  // namespace cachet::tasks
