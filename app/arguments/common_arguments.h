#pragma once

#include <c10/core/Device.h>

#include <CLI/App.hpp>
#include <string>

#include "cachet/data/text/encoders/unicode_normalization.h"
#include "cachet/report/text/progress.h"

/// Options that several subcommands have.
namespace cachet::app {

/// Adds --device (auto, cpu, cuda, cuda:1) to a command that runs a model.
void add_device_option(CLI::App& app, std::string& word);
/// Returns the device for a value of --device. Throws UsageError for an unknown word. If the machine has no such
/// device, throws std::runtime_error, which names the existing devices.
c10::Device device_named(const std::string& word);

/// Adds --normalize, the Unicode normalization of texts, like data.normalize of a recipe.
void add_normalize(CLI::App& app, data::TextNormalization& form);

/// Adds --progress to a command that takes a long time.
void add_progress_option(CLI::App& app, std::string& word);
report::ProgressMode progress_mode(const std::string& word);

}  // namespace cachet::app
