#pragma once

#include <string_view>

namespace cachet::report {

/// The style sheet of a report: light and dark, screen, phone and paper.
std::string_view style_sheet();

}  // namespace cachet::report
