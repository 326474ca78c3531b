#pragma once

#include <CLI/App.hpp>

namespace cachet::app {

/// What checks an option that takes a seed: a whole number as train.seed takes it. CLI11 alone would take the nearest
/// number that fits for one that is too large, and wrap a negative one.
CLI::Validator is_seed();

/// What checks --seeds: anything but an empty text, which would be taken for an option that is not given.
CLI::Validator names_seeds();

}  // namespace cachet::app
