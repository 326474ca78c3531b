#include "app/commands/command.h"

#include <algorithm>
#include <tuple>

namespace cachet::app {
namespace {

// Inside a function: the files register in no fixed order, perhaps before this one is initialised.
std::vector<Command>& registered() {
  static std::vector<Command> all;
  return all;
}

}  // namespace

Registration::Registration(const Command& command) { registered().push_back(command); }

std::vector<Command> commands() {
  std::vector<Command> sorted = registered();
  std::ranges::sort(sorted, {}, [](const Command& c) { return std::tuple(c.topic, c.name); });
  return sorted;
}

std::string examples_text(const std::vector<std::string_view>& examples) {
  std::string text = "Examples:";
  for (const std::string_view example : examples) text += "\n  " + std::string(example);
  return text;
}

}  // namespace cachet::app
