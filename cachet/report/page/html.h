#pragma once

#include <string>

#include "cachet/report/content.h"

namespace cachet::report {

/// Returns the page as one HTML file that needs no other file: drawings are SVG, numbers are JSON, style and script are
/// inside. The page is complete without JavaScript, which adds a read-out under the pointer, switches for series and
/// scale, and a slider that smooths the curves. The page of an unfinished run reloads itself every 20 seconds;
/// sessionStorage remembers what a reader opened or smoothed. No content makes the function fail: wrong UTF-8 is
/// replaced, and numbers that are not finite are left out and marked.
std::string render_html(const Page& page);

/// Returns the mark of a source. A page with that source has the mark in its first kilobyte.
std::string source_mark(const std::string& source);

}  // namespace cachet::report
