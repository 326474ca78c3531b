#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace cachet::config {

/// Where a value was written: a file and line, a `--set` option, or nowhere (a default).
struct Origin {
  std::string source;  // path of the recipe, "--set", or "default"
  int64_t line = 0;    // from 1; 0 where the source has no lines
  std::string text()
      const;  // "recipes/vision/base.toml:12", "--set", "default"; on one line, without control characters
};

/// The sources that are not files.
inline constexpr const char* kSetSource = "--set";
inline constexpr const char* kDefaultSource = "default";
inline constexpr const char* kEarlierSource = "earlier version";

struct Problem {
  Origin origin;
  std::string key;      // whole path, "model.cache.ratio"; empty where a whole file is meant
  std::string message;  // what is wrong and what would be accepted
};

/// A recipe that cannot be used. what() has one line for each problem, `origin: key: message`, by file and line.
/// `--set` comes after the files, and defaults are last.
class Error : public std::runtime_error {
 public:
  explicit Error(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

}  // namespace cachet::config
