#pragma once

#include <string>

#include "cachet/report/content.h"

namespace cachet::report {

/// The page as one HTML file that needs nothing else: drawings as SVG, numbers as JSON, style and script inside. It is
/// whole without JavaScript, which adds a read-out under the pointer, switches for series and scale, and a slider that
/// smooths the curves. The page of a run that is not finished reads itself again every 20 seconds; what a reader opened
/// or smoothed stays as it is, in the window's memory (sessionStorage). Never fails on content: wrong UTF-8 is
/// replaced, numbers that are not finite are left out and marked.
std::string render_html(const Page& page);

/// What a page with that source has in its first kilobyte.
std::string source_mark(const std::string& source);

}  // namespace cachet::report
