#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::tasks {

/// Returns the chart of Fig. 7 of Unified Normalization (arXiv 2208.01313): the distribution of the fraction of normal
/// channels (PNAC) over the layers of a model, as a kernel density estimate. NaN does not count. If there are no values
/// for activations or for gradients, the chart has no curve for them.
report::LineChart normality_density(const std::string& title, const std::vector<double>& activations,
                                    const std::vector<double>& gradients);

}  // namespace cachet::tasks
