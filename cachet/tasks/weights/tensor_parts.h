#pragma once

#include <string>
#include <vector>

namespace cachet::tasks {

/// The parts that names of tensors belong to, with how many tensors each has: the same part of all blocks is one,
/// "blocks.*.attn.cache.norm.weight (12)".
std::vector<std::string> tensor_parts(const std::vector<std::string>& names);

/// "a, b, …": no more than six.
std::string first_names(const std::vector<std::string>& names);

}  // namespace cachet::tasks
