#include "cachet/config/glob.h"

#include <fnmatch.h>

namespace cachet::config {

bool glob_matches(std::string_view pattern, std::string_view name) {
  std::string whole(pattern);
  // POSIX leaves open what a backslash at the very end means, and glibc matches nothing with it: here it is itself.
  const size_t last_other = pattern.find_last_not_of('\\') + 1;
  if ((pattern.size() - last_other) % 2 == 1) whole += '\\';
  return fnmatch(whole.c_str(), std::string(name).c_str(), /*flags=*/0) == 0;
}

std::vector<std::string> glob_filter(std::string_view pattern, std::span<const std::string> names) {
  std::vector<std::string> matching;
  for (const std::string& name : names) {
    if (pattern.empty() || glob_matches(pattern, name)) matching.push_back(name);
  }
  return matching;
}

}  // namespace cachet::config
