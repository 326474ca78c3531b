#include "cachet/tasks/exports/exported_model.h"

#include <ATen/Parallel.h>

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "cachet/config/set_option.h"
#include "cachet/deploy/rewrite.h"
#include "cachet/deploy/torch_session.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/model.h"
#include "cachet/runtime/checked_session.h"
#include "cachet/runtime/open_session.h"
#include "cachet/tasks/exports/rewritten_export.h"

namespace cachet::tasks {
namespace {

std::shared_ptr<models::Model> rewritten_model(const std::filesystem::path& weights, const models::ModelPlan& plan) {
  const std::shared_ptr<models::Model> model = built_as_exported(plan);
  io::load_state_dict(*model, io::read_safetensors(weights).tensors, {.conversion = io::LoadPolicy::Conversion::kNone});
  return model;
}

// Patterns of keys.
constexpr std::array<std::string_view, 5> kFixed{"model.*", "data.class_names", "data.normalization.*", "data.resize.*",
                                                 "data.orientation"};
constexpr std::array<std::string_view, 16> kPreparing{
    "data.category_ids",   "data.channels",          "data.classes",     "data.empty_texts",   "data.max_length",
    "data.normalize",      "data.shared_vocabulary", "data.stored_size", "data.strict_images", "data.subword_model",
    "data.tokens",         "data.too_long",          "data.transform.*", "data.vocabulary",    "data.vocabulary_file",
    "data.vocabulary_hash"};
constexpr std::array<std::string_view, 1> kDeciding{"task.*"}, kOfOneEvaluation{"task.evaluation.limit"};

/// The first of the patterns that the key of a value ("key=value") has.
std::optional<std::string_view> pattern_of(std::string_view value, std::span<const std::string_view> patterns) {
  for (const std::string_view pattern : patterns) {
    const bool is_table = pattern.ends_with('*');
    const std::string_view name = pattern.substr(0, pattern.size() - (is_table ? 1 : 0));
    const bool has = value.starts_with(name) && (is_table || value.size() == name.size() || value[name.size()] == '=');
    if (has) return pattern;
  }
  return std::nullopt;
}

}  // namespace

RecipePlan with_sessions(const RecipePlan& plan, const runtime::ExportManifest& manifest, MakeSession make,
                         const std::string& name) {
  RecipePlan result = plan;
  const std::shared_ptr<TaskPlan> task = plan.task->copy();
  auto* takes = dynamic_cast<TakesExportedModel*>(task.get());
  if (takes == nullptr)
    throw io::Error(name + ": is an export of a task of kind '" + plan.task->profile().kind +
                    "', and such a task cannot use an export");
  takes->replace_model(manifest, std::move(make));
  result.task = task;
  return result;
}

RecipePlan with_exported_model(const RecipePlan& plan, const runtime::ExportManifest& manifest,
                               const std::filesystem::path& folder) {
  const bool torch = manifest.engine == runtime::EngineKind::torch;
  // The recipe's model, built and rewritten as it was when the weights were written.
  const auto rewritten = [weights = folder / std::string(runtime::model_file(manifest.engine)), model = plan.model()] {
    return rewritten_model(weights, model);
  };
  const std::shared_ptr<TaskPlan> task = plan.task->copy();
  if (auto* takes = dynamic_cast<TakesRewrittenModel*>(task.get()); takes != nullptr && torch) {
    takes->replace_model(rewritten);
    RecipePlan result = plan;
    result.task = task;
    return result;
  }
  const auto* takes = dynamic_cast<const TakesExportedModel*>(task.get());
  const runtime::ExportManifest limited = takes == nullptr ? manifest : takes->with_limits(manifest);
  const auto session = [=] {
    const runtime::SessionOptions options{manifest.precision, at::get_num_threads()};
    return torch ? runtime::checked(deploy::make_torch_session(rewritten(), options), limited)
                 : runtime::open_session(folder, limited, options);
  };
  return with_sessions(plan, manifest, session, folder.string());
}

std::shared_ptr<models::Model> built_as_exported(const models::ModelPlan& plan) {
  std::shared_ptr<models::Model> model = plan.build();
  model->eval();
  deploy::rewrite(*model);
  return model;
}

std::optional<std::string> fixed_key(const std::string& setting) {
  for (const std::string& value : config::assignments_of(config::parse_assignment(setting)))
    if (const auto fixed = pattern_of(value, kFixed)) return std::string(*fixed);
  return std::nullopt;
}

std::vector<std::string> settings_to_keep(const std::vector<std::string>& settings) {
  std::vector<std::string> kept;
  for (const std::string& setting : settings)
    for (std::string& value : config::assignments_of(config::parse_assignment(setting))) {
      const bool decides = pattern_of(value, kDeciding) && !pattern_of(value, kOfOneEvaluation);
      if (decides || pattern_of(value, kFixed) || pattern_of(value, kPreparing)) kept.push_back(std::move(value));
    }
  return kept;
}

}  // namespace cachet::tasks
