#pragma once

#include <string>
#include <vector>

namespace cachet::tasks {

/// Returns the names of tensors with "*" for each number. Names that this makes equal are listed once, with the number
/// of their tensors: "blocks.*.attn.cache.norm.weight (12)".
std::vector<std::string> tensor_parts(const std::vector<std::string>& names);

/// Returns a text with at most six names of the list: "a, b, …".
std::string first_names(const std::vector<std::string>& names);

}  // namespace cachet::tasks
