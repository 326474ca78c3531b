#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cachet/report/text/text_form.h"

namespace cachet::app {

/// Adds the flag --wide.
void add_wide_option(CLI::App& app, bool& wide);

/// Returns the form of tables and sentences on standard output. Without --wide, a terminal's width limits them. Other
/// outputs are complete. If columns are left out, a line below the table names `whole_by`.
report::TextForm printed_form(bool wide, const std::string& whole_by = "--wide");

}  // namespace cachet::app
