#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/models/registry.h"

namespace cachet::app {

/// A model on a command line: its name and its changes by `--set model.KEY=VALUE`.
struct ModelArgument {
  std::string name;
  std::vector<std::string> settings;
};

/// Adds only the option --set, for commands whose argument MODEL is not a model's name.
void add_settings_option(CLI::App& app, std::vector<std::string>& settings);

/// Adds the argument MODEL and the option --set. `argument` must outlive the parsing.
CLI::Option* add_model_argument(CLI::App& app, ModelArgument& argument);

/// Reads the model of `argument` without building it. Throws UsageError for an unknown name (with the nearest name),
/// and config::Error, which lists all problems, for invalid settings.
models::ModelPlan read_model(const ModelArgument& argument);

/// Writes the name and the settings into a document. Throws UsageError for an unknown name, for a model whose
/// capabilities `can_be` rejects (the message ends with `else_say`), and if the settings name another model.
void set_model(const ModelArgument& argument, const std::function<bool(models::Capability)>& can_be,
               const std::string& else_say, config::Document& document);

/// Returns names of models that match a glob (empty: all). If no name matches, throws UsageError with nearest names.
std::vector<std::string> matching_models(const std::string& glob);

}  // namespace cachet::app
