#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <optional>
#include <string>
#include <string_view>

/// The answers to --help and to a mistyped command line. They list every mistake at once, with the nearest names.
namespace cachet::app {

/// Returns the message for a first argument that should be a subcommand but is not one.
std::optional<std::string> unknown_verb(const CLI::App& app, std::string_view word);

/// Returns the message for arguments that the parser rejected.
std::string usage_complaint(const CLI::App& app, const CLI::ParseError& error);

/// Writes help texts in the form of CLI11. On a terminal, wraps the right column at words.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* sub) const override;

 private:
  std::string in_right_column(const std::string& text) const;
};

}  // namespace cachet::app
