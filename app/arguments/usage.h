#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <string_view>

/// What a mistyped command line is answered with: every mistake at once, with the nearest names.
namespace cachet::app {

/// Lines for a first argument that should be a subcommand and is none.
std::optional<std::string> unknown_verb(const CLI::App& app, std::string_view word);

/// Lines for arguments that the parser refused.
std::string usage_complaint(const CLI::App& app, const CLI::ParseError& error);

}  // namespace cachet::app
