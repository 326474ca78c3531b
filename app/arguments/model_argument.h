#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/models/registry.h"

namespace cachet::app {

/// A model as a command line names it: its name and what `--set model.KEY=VALUE` changes of it.
struct ModelArgument {
  std::string name;
  std::vector<std::string> settings;
};

/// Adds the option --set alone, for commands whose MODEL is something else.
void add_settings_option(CLI::App& app, std::vector<std::string>& settings);

/// Adds the argument MODEL and the option --set. `argument` must outlive the parsing.
CLI::Option* add_model_argument(CLI::App& app, ModelArgument& argument);

/// The model that it describes, not built yet. Throws UsageError for an unknown name (with the nearest), config::Error
/// for settings that are wrong, all at once.
models::ModelPlan read_model(const ModelArgument& argument);

/// Puts name and settings into a document, for whom reads more there than the model. Throws UsageError as read_model()
/// does, for a model that cannot do one of these, and where the settings name another one.
void set_model(const ModelArgument& argument, const std::function<bool(models::Capability)>& can_be,
               const std::string& else_say, config::Document& document);

/// The names that a glob matches; all for an empty one. Throws UsageError when there is none, with the nearest names.
std::vector<std::string> matching_models(const std::string& glob);

}  // namespace cachet::app
