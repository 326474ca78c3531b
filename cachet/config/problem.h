#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace cachet::config {

/// The origin of a recipe value: a file and line, a `--set` option, or a default.
struct Origin {
  std::string source;  // path of the recipe, "--set", or "default"
  int64_t line = 0;    // line number from 1; 0 if the source has no lines
  std::string text()
      const;  // "recipes/vision/base.toml:12", "--set", "default"; on one line, without control characters
};

/// The values of Origin::source for recipe values that do not come from a file.
inline constexpr const char* kSetSource = "--set";
inline constexpr const char* kDefaultSource = "default";
inline constexpr const char* kEarlierSource = "earlier version";

struct Problem {
  Origin origin;
  std::string key;      // full path, "model.cache.ratio"; empty if the problem concerns a whole file
  std::string message;  // description of the fault, and the accepted values
};

/// The error for a recipe that cannot be used. what() has one line `origin: key: message` for each problem. Problems of
/// files come first, sorted by file and line; then come problems of `--set` options, then problems of defaults.
class Error : public std::runtime_error {
 public:
  explicit Error(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

}  // namespace cachet::config
