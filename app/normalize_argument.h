#pragma once

#include <CLI/App.hpp>
#include <string>

namespace cachet::app {

/// --normalize: the form that texts are brought into, as data.normalize of a recipe.
void add_normalize(CLI::App& app, std::string& form);

}  // namespace cachet::app
