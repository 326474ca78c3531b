#pragma once

#include <span>
#include <string>
#include <vector>

namespace cachet::metrics {

/// Throws std::invalid_argument for no sentences, no references, and a stream of references of another length than the
/// hypotheses', which it names.
void check_streams(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references);

}  // namespace cachet::metrics
