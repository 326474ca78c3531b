#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <optional>
#include <string>
#include <string_view>

/// What the command answers to --help, and to a mistyped command line: every mistake at once, with the nearest names.
namespace cachet::app {

/// Lines for a first argument that should be a subcommand and is not.
std::optional<std::string> unknown_verb(const CLI::App& app, std::string_view word);

/// Lines for arguments that the parser refused.
std::string usage_complaint(const CLI::App& app, const CLI::ParseError& error);

/// Writes help texts as CLI11 does; where a terminal shows them, what stands in their right column is wrapped at words.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* sub) const override;

 private:
  std::string in_right_column(const std::string& text) const;
};

}  // namespace cachet::app
