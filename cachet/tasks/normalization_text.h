#pragma once

#include <string>
#include <vector>

namespace cachet::tasks {

/// Returns mean and deviation as a text: "mean 0.485 0.456 0.406, deviation 0.229 0.224 0.225".
std::string normalization_text(const std::vector<double>& mean, const std::vector<double>& deviation);

}  // namespace cachet::tasks
