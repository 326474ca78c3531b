#include "app/shell/completion.h"

#include <algorithm>
#include <functional>

namespace cachet::app {
namespace {

/// The words of "{auto,bar}" in the type of a value.
std::vector<std::string> choices_in(const std::string& type) {
  const size_t begin = type.find('{'), end = type.find('}', begin);
  std::vector<std::string> words;
  if (begin == std::string::npos || end == std::string::npos) return words;
  std::string word;
  for (size_t i = begin + 1; i <= end; ++i) {
    if (i == end || type[i] == ',') {
      words.push_back(word);
      word.clear();
    } else {
      word += type[i];
    }
  }
  return words;
}

bool names_file(const std::string& type) {
  return std::ranges::any_of(std::vector<std::string>{"FILE", "FOLDER", "DIR", "PATH"},
                             [&](const std::string& word) { return type.find(word) != std::string::npos; });
}

CompletedOption completed_option(const CLI::Option& option) {
  CompletedOption completed;
  for (const std::string& name : option.get_lnames()) completed.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) completed.names.push_back("-" + name);
  completed.help = option.get_description();
  completed.takes_value = option.get_items_expected_max() > 0;
  if (!completed.takes_value) return completed;
  const std::string type = option.get_type_name();
  completed.choices = choices_in(type);
  completed.takes_file = completed.choices.empty() && names_file(type);
  return completed;
}

/// All commands, the outer ones first.
void for_each_command(const CompletedCommand& command, const std::function<void(const CompletedCommand&)>& use) {
  use(command);
  for (const CompletedCommand& below : command.commands) for_each_command(below, use);
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// Between single quotes, as all three shells read it. fish also takes a backslash as one.
std::string quoted(const std::string& text, const std::string& quote = "'\\''") {
  std::string whole = "'";
  for (const char symbol : text) whole += symbol == '\'' ? quote : std::string(1, symbol);
  return whole + "'";
}

/// The patterns of `case "$command $before"` for the options that `is_meant` takes.
std::vector<std::string> patterns(const CompletedCommand& root,
                                  const std::function<bool(const CompletedOption&)>& is_meant) {
  std::vector<std::string> all;
  for_each_command(root, [&](const CompletedCommand& command) {
    for (const CompletedOption& option : command.options)
      if (is_meant(option))
        for (const std::string& name : option.names) all.push_back(quoted(command.path + " " + name));
  });
  return all;
}

/// Every list of choices, with the patterns of the options that have it.
std::map<std::string, std::vector<std::string>> patterns_by_choices(const CompletedCommand& root) {
  std::map<std::string, std::vector<std::string>> all;
  for_each_command(root, [&](const CompletedCommand& command) {
    for (const CompletedOption& option : command.options)
      if (!option.choices.empty())
        for (const std::string& name : option.names)
          all[joined(option.choices, " ")].push_back(quoted(command.path + " " + name));
  });
  return all;
}

/// The patterns of `case "$command $word"` for the names of commands below the program.
std::vector<std::string> command_patterns(const CompletedCommand& root) {
  std::vector<std::string> all;
  for_each_command(root, [&](const CompletedCommand& command) {
    for (const CompletedCommand& below : command.commands) all.push_back(quoted(command.path + " " + below.name));
  });
  return all;
}

bool is_file_option(const CompletedOption& option) { return option.takes_file; }
bool is_open_option(const CompletedOption& option) {
  return option.takes_value && !option.takes_file && option.choices.empty();
}

std::vector<std::string> option_names(const CompletedCommand& command) {
  std::vector<std::string> names;
  for (const CompletedOption& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> command_names(const CompletedCommand& command) {
  std::vector<std::string> names;
  for (const CompletedCommand& below : command.commands) names.push_back(below.name);
  return names;
}

/// Words for one word of a `_describe` list of zsh: "name:help".
std::string described(const std::string& name, const std::string& help) {
  std::string text;
  for (const char symbol : name) text += symbol == ':' ? std::string("\\:") : std::string(1, symbol);
  return quoted(text + ":" + help);
}

}  // namespace

CompletedCommand completed_command(const CLI::App& app, const std::map<std::string, std::vector<std::string>>& words) {
  CompletedCommand command;
  const CLI::App* parent = app.get_parent();
  if (parent != nullptr) {
    command.name = app.get_name();
    command.path = (parent->get_parent() == nullptr ? "" : parent->get_name() + " ") + command.name;
  }
  command.help = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) {
      command.options.push_back(completed_option(*option));
      continue;
    }
    const std::string name = option->get_name(/*positional=*/true);
    const auto known = words.find(name);
    // A recipe may also be a file; the other lists have all values.
    command.takes_files = command.takes_files || known == words.end() || name == "RECIPE";
    if (known != words.end()) command.words.insert(command.words.end(), known->second.begin(), known->second.end());
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    command.commands.push_back(completed_command(*below, words));
  return command;
}

std::string bash_completion(const CompletedCommand& root, const std::string& program) {
  std::string text = "# Completion of " + program + " for bash: source <(" + program + " completion bash)\n_" +
                     program +
                     R"(() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= files= i
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
      )" + joined(command_patterns(root), "|") +
                     R"() command="${command:+$command }${COMP_WORDS[i]}" ;;
    esac
  done
  case "$command $before" in
)";
  for (const auto& [choices, of] : patterns_by_choices(root))
    text += "    " + joined(of, "|") + ") COMPREPLY=($(compgen -W " + quoted(choices) + " -- \"$word\")); return ;;\n";
  text += "    " + joined(patterns(root, is_file_option), "|") +
          ") mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); compopt -o filenames 2>/dev/null; return ;;\n";
  text += "    " + joined(patterns(root, is_open_option), "|") + ") return ;;\n  esac\n  case $command in\n";
  for_each_command(root, [&](const CompletedCommand& command) {
    text += "    " + quoted(command.path) +
            ") if [[ $word == -* ]]; then words=" + quoted(joined(option_names(command), " ")) +
            "; else words=" + quoted(joined(command.commands.empty() ? command.words : command_names(command), " ")) +
            (command.takes_files ? " files=yes" : "") + "; fi ;;\n";
  });
  text += R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ $files == yes && $word != -* ]]; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _)" +
          program + " " + program + "\n";
  return text;
}

std::string zsh_completion(const CompletedCommand& root, const std::string& program) {
  std::string text = "#compdef " + program + "\n# Completion of " + program + " for zsh: " + program +
                     " completion zsh > a folder of $fpath/_" + program + "\n_" + program + R"(() {
  local word=${words[CURRENT]} before=${words[CURRENT-1]} command= files= i
  local -a options subcommands names
  for ((i = 2; i < CURRENT; i++)); do
    case "$command ${words[i]}" in
      ()" + joined(command_patterns(root), "|") +
                     R"() command="${command:+$command }${words[i]}" ;;
    esac
  done
  case "$command $before" in
)";
  for (const auto& [choices, of] : patterns_by_choices(root))
    text += "    (" + joined(of, "|") + ") compadd -- " + choices + "; return ;;\n";
  text += "    (" + joined(patterns(root, is_file_option), "|") + ") _files; return ;;\n";
  text += "    (" + joined(patterns(root, is_open_option), "|") + ") return ;;\n  esac\n  case $command in\n";
  for_each_command(root, [&](const CompletedCommand& command) {
    text += "    (" + quoted(command.path) + ")\n      options=(";
    for (const CompletedOption& option : command.options)
      for (const std::string& name : option.names) text += "\n        " + described(name, option.help);
    text += ")\n";
    if (!command.commands.empty()) {
      text += "      subcommands=(";
      for (const CompletedCommand& below : command.commands) text += "\n        " + described(below.name, below.help);
      text += ")\n";
    }
    if (!command.words.empty()) text += "      names=(" + joined(command.words, " ") + ")\n";
    if (command.takes_files) text += "      files=yes\n";
    text += "      ;;\n";
  });
  text += R"(  esac
  if [[ $word == -* ]]; then _describe option options; return; fi
  if (( $#subcommands )); then _describe command subcommands; return; fi
  (( $#names )) && compadd -- $names
  [[ $files == yes ]] && _files
}
if [[ $funcstack[1] == _)" +
          program + " ]]; then _" + program + " \"$@\"; else compdef _" + program + " " + program + "; fi\n";
  return text;
}

std::string fish_completion(const CompletedCommand& root, const std::string& program) {
  std::string text = "# Completion of " + program + " for fish: " + program + " completion fish | source\n";
  const auto quote = [](const std::string& text) { return quoted(text, "\\'"); };
  for_each_command(root, [&](const CompletedCommand& command) {
    std::string when = "__fish_use_subcommand";
    if (!command.path.empty()) when = "__fish_seen_subcommand_from " + command.path.substr(0, command.path.find(' '));
    if (command.path.find(' ') != std::string::npos) when += "; and __fish_seen_subcommand_from " + command.name;
    const std::string begin = "complete -c " + program + " -n " + quote(when);
    if (!command.path.empty() && !command.commands.empty())
      when += "; and not __fish_seen_subcommand_from " + joined(command_names(command), " ");
    const std::string first = "complete -c " + program + " -n " + quote(when);
    for (const CompletedCommand& below : command.commands)
      text += first + " -f -a " + quote(below.name) + " -d " + quote(below.help) + "\n";
    if (!command.words.empty())
      text += begin + (command.takes_files ? " -a " : " -f -a ") + quote(joined(command.words, " ")) + "\n";
    for (const CompletedOption& option : command.options) {
      text += begin;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        text += " -x -a " + quote(joined(option.choices, " "));
      else if (option.takes_value)
        text += option.takes_file ? " -r -F" : " -x";
      text += " -d " + quote(option.help) + "\n";
    }
  });
  return text;
}

}  // namespace cachet::app
