#pragma once

#include <string>
#include <vector>

namespace cachet::tasks {

/// Returns the parts to which named tensors belong, with the number of tensors of each part. Equal parts of all blocks
/// are listed as one part: "blocks.*.attn.cache.norm.weight (12)".
std::vector<std::string> tensor_parts(const std::vector<std::string>& names);

/// Returns a text with at most six names of the list: "a, b, …".
std::string first_names(const std::vector<std::string>& names);

}  // namespace cachet::tasks
