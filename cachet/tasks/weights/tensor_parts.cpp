#include "cachet/tasks/weights/tensor_parts.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace cachet::tasks {

std::vector<std::string> tensor_parts(const std::vector<std::string>& names) {
  std::map<std::string, int64_t> parts;
  for (const std::string& name : names) {
    std::string part;
    for (size_t from = 0; from < name.size();) {
      const size_t dot = std::min(name.find('.', from), name.size());
      const std::string word = name.substr(from, dot - from);
      const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
      part += (part.empty() ? "" : ".") + (is_number ? "*" : word);
      from = dot + 1;
    }
    ++parts[part];
  }
  std::vector<std::string> shown;
  for (const auto& [part, count] : parts) shown.push_back(count > 1 ? part + " (" + std::to_string(count) + ")" : part);
  return shown;
}

std::string first_names(const std::vector<std::string>& names) {
  constexpr size_t kMax = 6;
  std::string line;
  for (size_t i = 0; i < std::min(names.size(), kMax); ++i) line += (i == 0 ? "" : ", ") + names[i];
  return line + (names.size() > kMax ? ", …" : "");
}

}  // namespace cachet::tasks
