#include "cachet/data/vision/class_names.h"

#include <algorithm>

#include "cachet/config/counted.h"
#include "cachet/io/error.h"

namespace cachet::data {

std::vector<std::string> cifar10_class_names() {
  return {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
}

std::vector<std::string> fashion_mnist_class_names() {
  return {"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"};
}

std::vector<std::string> numbered_class_names(int64_t classes) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < classes; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::string> parse_class_names(std::string_view text, int64_t expected, std::string_view name) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    names.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!names.empty() && names.back().empty()) names.pop_back();
  if (static_cast<int64_t>(names.size()) != expected) {
    throw io::Error(std::string(name) + ": " + config::counted(names.size(), "class name") +
                    " (one for each line), but there are " + std::to_string(expected) + " classes");
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const bool control = std::ranges::any_of(names[i], [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (names[i].empty() || names[i].size() > 100 || control) {
      throw io::Error(std::string(name) + ":" + std::to_string(i + 1) +
                      ": a class name must have 1 to 100 characters and no control characters");
    }
  }
  return names;
}

}  // namespace cachet::data
