#pragma once

#include <string>
#include <vector>

namespace cachet::tasks {

/// Returns the names of tensors with "*" for each number. If several names become equal, lists the name once, with the
/// number of its tensors: "blocks.*.attn.cache.norm.weight (12)".
std::vector<std::string> tensor_parts(const std::vector<std::string>& names);

/// Returns a text with at most six names of the list: "a, b, …".
std::string first_names(const std::vector<std::string>& names);

}  // namespace cachet::tasks
