#pragma once

#include <string_view>

namespace cachet::report {

/// Returns the style sheet of a report, for light and dark mode, screen, phone and paper.
std::string_view style_sheet();

}  // namespace cachet::report
