#include "cachet/config/set_option.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cachet/config/nesting.h"
#include "cachet/config/toml_parser.h"
#include "cachet/config/toml_text.h"
#include "cachet/config/utf8.h"

namespace cachet::config {
namespace {

[[noreturn]] void refuse_assignment(std::string_view assignment, const std::string& message) {
  const std::string shown = printable(assignment.substr(0, 80)) + (assignment.size() > 80 ? "..." : "");
  throw Error({Problem{Origin{kSetSource, 0}, "", shown + ": " + message}});
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> parse_key(std::string_view key, std::string_view assignment) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= key.size();) {
    const size_t end = std::min(key.find('.', start), key.size());
    const std::string_view part = key.substr(start, end - start);
    if (toml_key(part) != part) {
      refuse_assignment(assignment, "the left side must be a key, such as model.cache.ratio");
    }
    parts.emplace_back(part);
    start = end + 1;
  }
  if (parts.size() > static_cast<size_t>(kMaxNesting)) {
    refuse_assignment(assignment, "the key has more than " + std::to_string(kMaxNesting) + " parts");
  }
  return parts;
}

/// The one value in `v = {x = VALUE}`; the table around it keeps a comment or a second assignment from slipping in.
Node parse_value(std::string_view text) {
  Node document = parse_toml("v = {x = " + std::string(text) + "}", kSetSource);
  Table& outer = *document.table();
  Table* inner = outer.size() == 1 ? outer.begin()->second.table() : nullptr;
  if (inner == nullptr || inner->size() != 1 || !inner->contains("x")) {
    throw Error({Problem{Origin{kSetSource, 0}, "", "more than one value"}});
  }
  return std::move(inner->begin()->second);
}

/// One command line has no lines: every part of the value comes from one source alone.
void set_origin(Node& node, std::string_view source) {
  node.origin = {std::string(source), 0};
  if (Table* table = node.table()) {
    for (auto& [key, child] : *table) set_origin(child, source);
  } else if (List* list = std::get_if<List>(&node.value)) {
    for (Node& child : *list) set_origin(child, source);
  }
}

[[noreturn]] void refuse_value(const Node& value) {
  throw Error({Problem{
      value.origin, "",
      describe(value) + " is not allowed here; the value must be a number, a text, true, false or a list of these"}});
}

void add_assignments(const Node& node, const std::string& path, std::vector<std::string>& all) {
  const Table* table = node.table();
  if (table == nullptr) {
    all.push_back(path + "=" + assigned_text(node));
    return;
  }
  if (table->empty() && !path.empty()) all.push_back(path + "={}");
  for (const auto& [key, child] : *table) {
    if (toml_key(key) != key) throw Error({Problem{child.origin, join_path(path, key), "is not a key of a recipe"}});
    add_assignments(child, join_path(path, key), all);
  }
}

}  // namespace

std::string assigned_text(const Node& value) {
  return std::visit(
      [&](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, List>) {
          std::string text = "[";
          for (const Node& item : held) text += (text.size() > 1 ? ", " : "") + assigned_text(item);
          return text + "]";
        } else if constexpr (std::is_same_v<Held, Table> || std::is_same_v<Held, DateOrTime>) {
          refuse_value(value);
        } else {
          return toml_text(held);
        }
      },
      value.value);
}

std::vector<std::string> assignments_of(const Node& table) {
  std::vector<std::string> all;
  add_assignments(table, "", all);
  return all;
}

Node parse_assignment(std::string_view assignment, std::string_view source) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos)
    refuse_assignment(assignment, "write KEY=VALUE, such as model.cache.ratio=0.25");
  const std::vector<std::string> parts = parse_key(trimmed(assignment.substr(0, equals)), assignment);
  if (parts.front() == "base")
    refuse_assignment(assignment, "a base can be set only in the file of a recipe; start from the base recipe instead");
  const std::string_view text = trimmed(assignment.substr(equals + 1));
  if (text.empty()) refuse_assignment(assignment, "the value is missing; write an empty text as \"\", with the quotes");
  if (text.size() > 65536 || first_invalid_utf8(text) != std::string_view::npos || printable(text) != text) {
    refuse_assignment(assignment, "the value must be UTF-8 without control characters, and have at most 64 KiB");
  }

  Node node;
  try {
    node = parse_value(text);
  } catch (const Error& error) {
    const bool meant_as_toml = std::string_view("\"'[{").find(text.front()) != std::string_view::npos;
    if (meant_as_toml)
      refuse_assignment(assignment, "the value is not valid TOML: " + error.problems().front().message);
    node.value = std::string(text);
  }
  set_origin(node, source);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    Node outer;
    outer.origin = {kSetSource, 0};
    Table entries;
    entries.emplace(*part, std::move(node));
    outer.value = std::move(entries);
    node = std::move(outer);
  }
  return node;
}

}  // namespace cachet::config
