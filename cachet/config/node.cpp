#include "cachet/config/node.h"

#include "cachet/config/toml_text.h"

namespace cachet::config {
namespace {

struct Describe {
  std::string operator()(const Table&) const { return "a table"; }
  std::string operator()(const List&) const { return "a list"; }
  std::string operator()(bool value) const { return toml_text(value); }
  std::string operator()(int64_t value) const { return toml_text(value); }
  std::string operator()(double value) const { return toml_text(value); }
  std::string operator()(DateOrTime) const { return "a date or time"; }
  std::string operator()(const std::string& value) const {
    constexpr size_t kMax = 60;  // characters: a message stays on a line or two
    if (value.size() <= kMax) return "the text " + toml_text(value);
    size_t cut = kMax;
    while (cut > 0 && (static_cast<unsigned char>(value[cut]) & 0xC0) == 0x80) --cut;  // not inside a character
    return "the text " + toml_text(value.substr(0, cut) + "...");
  }
};

}  // namespace

const Node* find(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    const Table* table = node->table();
    if (table == nullptr) return nullptr;
    const auto entry = table->find(path.substr(0, dot));
    if (entry == table->end()) return nullptr;
    node = &entry->second;
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  }
  return node;
}

std::string describe(const Node& node) { return std::visit(Describe{}, node.value); }

std::string join_path(std::string_view table, std::string_view key) {
  std::string path(table);
  if (!path.empty()) path += '.';
  return path += key;
}

}  // namespace cachet::config
