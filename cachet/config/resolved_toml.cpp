#include "cachet/config/resolved_toml.h"

#include <map>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/config/node.h"
#include "cachet/config/toml_text.h"

namespace cachet::config {
namespace {

/// A table of the file: its own values first, as TOML demands, then the tables inside, both in the order of reading.
struct Section {
  std::string path;
  std::vector<const Document::Value*> values;
  std::vector<std::string> inner_names;
  std::map<std::string, Section> inner;

  Section& at(const std::string& name) {
    const auto [entry, added] = inner.try_emplace(name);
    if (added) {
      inner_names.push_back(name);
      entry->second.path = join_path(path, name);
    }
    return entry->second;
  }
};

void write_section(const Section& section, bool with_origins, std::string& text) {
  if (!section.values.empty() && !section.path.empty()) {
    if (!text.empty()) text += '\n';
    text += '[' + section.path + "]\n";
  }
  for (const Document::Value* value : section.values) {
    text += value->key.substr(value->key.rfind('.') + 1) + " = " + value->toml;
    if (with_origins) text += "  # " + value->origin.text();
    text += '\n';
  }
  for (const std::string& name : section.inner_names) write_section(section.inner.at(name), with_origins, text);
}

}  // namespace

std::string resolved_toml(const std::vector<Document::Value>& values, bool with_origins) {
  Section root;
  for (const Document::Value& value : values) {
    Section* section = &root;
    size_t start = 0;
    for (size_t dot = value.key.find('.'); dot != std::string::npos; dot = value.key.find('.', start)) {
      section = &section->at(value.key.substr(start, dot - start));
      start = dot + 1;
    }
    section->values.push_back(&value);
  }
  std::string text;
  write_section(root, with_origins, text);
  return text;
}

std::string Document::resolved_toml(bool with_origins) const { return config::resolved_toml(resolved(), with_origins); }

}  // namespace cachet::config
