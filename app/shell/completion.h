#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>
#include <vector>

namespace cachet::app {

/// An option as a shell completes it.
struct CompletedOption {
  std::vector<std::string> names;  // "--output", "-o"
  std::string help;                // one line
  bool takes_value = false;
  bool takes_file = false;           // or a folder
  std::vector<std::string> choices;  // of its value, if there are few
};

/// A command, or the whole program, whose path is empty.
struct CompletedCommand {
  std::string path;  // "data words"
  std::string name;  // "words"
  std::string help;
  std::vector<CompletedOption> options;
  std::vector<CompletedCommand> commands;
  std::vector<std::string> words;  // that its arguments may be
  bool takes_files = false;
};

/// What the parser declares. `words` are those of arguments, by their names: of "MODEL" the names of models.
CompletedCommand completed_command(const CLI::App& app, const std::map<std::string, std::vector<std::string>>& words);

/// A script that a shell reads, and that completes the program of this name.
std::string bash_completion(const CompletedCommand& root, const std::string& program);
std::string zsh_completion(const CompletedCommand& root, const std::string& program);
std::string fish_completion(const CompletedCommand& root, const std::string& program);

}  // namespace cachet::app
