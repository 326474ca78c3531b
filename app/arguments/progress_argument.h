#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cachet/report/text/progress.h"

namespace cachet::app {

/// --progress, of commands that take a while.
void add_progress_option(CLI::App& app, std::string& word);

report::ProgressMode progress_mode(const std::string& word);

}  // namespace cachet::app
