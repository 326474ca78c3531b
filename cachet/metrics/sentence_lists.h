#pragma once

#include <span>
#include <string>
#include <vector>

namespace cachet::metrics {

/// Throws std::invalid_argument if there are no sentences or no references, or if a list of references and the list of
/// hypotheses differ in length. The message names the list of references that has the wrong length.
void check_streams(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references);

}  // namespace cachet::metrics
