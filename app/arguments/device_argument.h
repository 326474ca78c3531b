#pragma once

#include <c10/core/Device.h>

#include <CLI/App.hpp>
#include <string>

namespace cachet::app {

/// --device, of commands that run a model: auto, cpu, cuda, cuda:1.
void add_device_option(CLI::App& app, std::string& word);

/// The device of such a word. Throws UsageError for another word, std::runtime_error that names the devices that there
/// are where it is none of them.
c10::Device device_named(const std::string& word);

}  // namespace cachet::app
