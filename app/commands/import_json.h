#pragma once

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "cachet/tasks/weights/weight_import.h"

namespace cachet::app {

/// Adds an option whose value is one of io::name_source_words().
void add_names_option(CLI::App& app, const std::string& flag, std::string& names, const std::string& help);

/// Returns the output of `cachet import --json`. `input`: the preparation of images, from tasks::ModelRecipe.
nlohmann::ordered_json import_json(const tasks::WeightImportReport& report, const std::string& model,
                                   const std::string& file, const std::string& input, const std::string& output);

}  // namespace cachet::app
