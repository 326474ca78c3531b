#include "cachet/io/tensors/names/name_pattern.h"

#include <algorithm>
#include <charconv>

namespace cachet::io {

NamePattern::NamePattern(std::string_view text) {
  using Kind = Piece::Kind;
  while (!text.empty()) {
    const Kind kind = text.starts_with("**") ? Kind::kRest
                      : text.front() == '*'  ? Kind::kSegment
                      : text.front() == '#'  ? Kind::kNumber
                                             : Kind::kLiteral;
    size_t size = kind == Kind::kRest ? 2 : 1;
    if (kind == Kind::kLiteral) size = std::min(text.find_first_of("*#"), text.size());
    pieces_.push_back({kind, std::string(text.substr(0, size))});
    text.remove_prefix(size);
  }
}

std::optional<std::vector<std::string>> NamePattern::match(std::string_view name) const {
  std::vector<std::string> texts;
  if (!match_from(0, name, texts)) return std::nullopt;
  return texts;
}

// Tries the longest text of a wildcard first, then shorter ones. Patterns are ours and have few wildcards, names are
// short.
bool NamePattern::match_from(size_t index, std::string_view name, std::vector<std::string>& texts) const {
  if (index == pieces_.size()) return name.empty();
  const Piece& piece = pieces_[index];
  if (piece.kind == Piece::Kind::kLiteral) {
    return name.starts_with(piece.text) && match_from(index + 1, name.substr(piece.text.size()), texts);
  }
  size_t longest = name.size();
  if (piece.kind == Piece::Kind::kSegment) longest = std::min(name.find('.'), longest);
  if (piece.kind == Piece::Kind::kNumber) longest = std::min(name.find_first_not_of("0123456789"), longest);
  const size_t shortest = piece.kind == Piece::Kind::kRest ? 0 : 1;
  for (size_t size = longest + 1; size-- > shortest;) {
    texts.emplace_back(name.substr(0, size));
    if (match_from(index + 1, name.substr(size), texts)) return true;
    texts.pop_back();
  }
  return false;
}

std::string NamePattern::fill(const std::vector<std::string>& texts) const {
  std::string name;
  auto next = texts.begin();
  for (const Piece& piece : pieces_) name += piece.kind == Piece::Kind::kLiteral ? piece.text : *next++;
  return name;
}

std::vector<std::string> NamePattern::wildcards() const {
  std::vector<std::string> found;
  for (const Piece& piece : pieces_) {
    if (piece.kind != Piece::Kind::kLiteral) found.push_back(piece.text);
  }
  return found;
}

bool shift_number(const NamePattern& pattern, std::vector<std::string>& texts, int64_t add) {
  const std::vector<std::string> wildcards = pattern.wildcards();
  const auto place = std::find(wildcards.begin(), wildcards.end(), "#") - wildcards.begin();
  std::string& text = texts[static_cast<size_t>(place)];
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || __builtin_add_overflow(value, add, &value) || value < 0) return false;
  text = std::to_string(value);
  return true;
}

}  // namespace cachet::io
