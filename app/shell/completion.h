#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>
#include <vector>

namespace cachet::app {

/// An option in the form that shell completion needs.
struct CompletedOption {
  std::vector<std::string> names;  // "--output", "-o"
  std::string help;                // one line
  bool takes_value = false;
  bool takes_file = false;           // whether its value is a file or a folder
  std::vector<std::string> choices;  // possible values, if there are few
};

/// A command, or the whole program (with an empty path).
struct CompletedCommand {
  std::string path;  // "data words"
  std::string name;  // "words"
  std::string help;
  std::vector<CompletedOption> options;
  std::vector<CompletedCommand> commands;
  std::vector<std::string> words;  // possible values of its arguments
  bool takes_files = false;
};

/// Returns the commands that the parser declares. `words`: possible values by argument; for "MODEL", names of models.
CompletedCommand completed_command(const CLI::App& app, const std::map<std::string, std::vector<std::string>>& words);

/// Return a script with which a shell completes the arguments of the program with this name.
std::string bash_completion(const CompletedCommand& root, const std::string& program);
std::string zsh_completion(const CompletedCommand& root, const std::string& program);
std::string fish_completion(const CompletedCommand& root, const std::string& program);

}  // namespace cachet::app
