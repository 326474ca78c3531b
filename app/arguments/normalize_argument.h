#pragma once

#include <CLI/App.hpp>

#include "cachet/data/text/encoders/unicode_normalization.h"

namespace cachet::app {

/// --normalize: the form that texts are brought into, as data.normalize of a recipe.
void add_normalize(CLI::App& app, data::TextNormalization& form);

}  // namespace cachet::app
