#pragma once

#include <string_view>

namespace cachet::report {

/// Returns the script of a report: a display of the values at a position that the pointer or the arrow keys select, and
/// switches for the series and the scale. All content of the page is visible without the script.
std::string_view script();

}  // namespace cachet::report
