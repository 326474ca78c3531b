#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::data {

std::vector<std::string> cifar10_class_names();
std::vector<std::string> fashion_mnist_class_names();
std::vector<std::string> numbered_class_names(int64_t classes);  // "0", "1", …

/// Parses a list of class names, one in each line. Ignores empty lines at the end. Throws io::Error, which starts with
/// `name`, unless the number of names is `expected`, and each name has 1 to 100 bytes and no control characters.
std::vector<std::string> parse_class_names(std::string_view text, int64_t expected, std::string_view name);

}  // namespace cachet::data
