#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace cachet::app {

/// Writes help texts as CLI11 does; where a terminal shows them, what stands in their right column is wrapped at words.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* sub) const override;

 private:
  std::string in_right_column(const std::string& text) const;
};

}  // namespace cachet::app
