#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::tasks {

/// Returns the distribution of the fractions of normal channels (PNAC) of a model's norms over its layers, estimated by
/// a kernel density: Fig. 7 of Unified Normalization (arXiv 2208.01313). NaN does not count; a kind without values has
/// no curve.
report::LineChart normality_density(const std::string& title, const std::vector<double>& activations,
                                    const std::vector<double>& gradients);

}  // namespace cachet::tasks
