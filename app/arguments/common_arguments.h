#pragma once

#include <c10/core/Device.h>

#include <CLI/App.hpp>
#include <string>

#include "cachet/data/text/encoders/unicode_normalization.h"
#include "cachet/report/text/progress.h"

/// Options that several subcommands have.
namespace cachet::app {

/// Adds --device, of commands that run a model: auto, cpu, cuda, cuda:1.
void add_device_option(CLI::App& app, std::string& word);
/// The device of such a word. Throws UsageError for another word, std::runtime_error that names the devices that there
/// are where it is not one of them.
c10::Device device_named(const std::string& word);

/// Adds --normalize: the form that texts are brought into, as data.normalize of a recipe.
void add_normalize(CLI::App& app, data::TextNormalization& form);

/// Adds --progress, of commands that take a while.
void add_progress_option(CLI::App& app, std::string& word);
report::ProgressMode progress_mode(const std::string& word);

}  // namespace cachet::app
