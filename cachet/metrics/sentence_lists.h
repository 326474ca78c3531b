#pragma once

#include <span>
#include <string>
#include <vector>

namespace cachet::metrics {

/// Throws std::invalid_argument for no sentences, for no references, and for a list of references whose length is not
/// that of the hypotheses; the error names the list.
void check_streams(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references);

}  // namespace cachet::metrics
