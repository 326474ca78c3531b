#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cachet/report/text/text_form.h"

namespace cachet::app {

/// Adds the flag --wide.
void add_wide_option(CLI::App& app, bool& wide);

/// How tables and sentences are printed on standard output: on a terminal as it has room, unless --wide is there, and
/// whole elsewhere. If columns are left out, a line below names `whole_by`.
report::TextForm printed_form(bool wide, const std::string& whole_by = "--wide");

}  // namespace cachet::app
