#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::io {

/// A pattern for whole names, split at its wildcards: `*` matches one or more characters without a dot, `#` matches
/// digits, `**` matches any number of characters, even none.
class NamePattern {
 public:
  explicit NamePattern(std::string_view text);

  /// Returns the parts of the name that the wildcards match, in the order of the wildcards. From left to right, each
  /// wildcard matches as much of the name as possible. Returns an empty value if the name does not match.
  std::optional<std::vector<std::string>> match(std::string_view name) const;

  /// Returns a name that has the texts `texts` in place of the pattern's wildcards.
  std::string fill(const std::vector<std::string>& texts) const;

  /// Returns the wildcards of the pattern, in order: "#" and "**" for "#.**".
  std::vector<std::string> wildcards() const;

 private:
  struct Piece {
    enum class Kind { kLiteral, kSegment, kNumber, kRest } kind;
    std::string text;
  };
  bool match_from(size_t piece, std::string_view name, std::vector<std::string>& texts) const;

  std::vector<Piece> pieces_;
};

/// Adds `add` to the number that the first `#` of the pattern matched, and writes the result into `texts`. Returns
/// false if the resulting number is negative or does not fit into int64.
bool shift_number(const NamePattern& pattern, std::vector<std::string>& texts, int64_t add);

}  // namespace cachet::io
