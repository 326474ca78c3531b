#pragma once

#include <string_view>

namespace cachet::report {

/// The script of a report: read-out under the pointer (or the arrow keys), switches for series and for the scale. It
/// draws nothing that the page does not show without it.
std::string_view script();

}  // namespace cachet::report
