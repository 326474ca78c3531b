#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/profile/step_profile.h"

namespace cachet::train {

/// Returns one line: "22.4 ms a step; operators ran in 98.1 % of the time: products 61 %, attention 12 %, …".
std::string profile_text(const StepProfile& profile);

/// Returns the tables: times by family, the longest names, memory by kind.
std::vector<report::Table> profile_tables(const StepProfile& profile);

/// Returns the section of a run's page.
report::Section profile_section(const StepProfile& profile);

}  // namespace cachet::train
