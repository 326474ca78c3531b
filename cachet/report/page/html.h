#pragma once

#include <string>

#include "cachet/report/content.h"

namespace cachet::report {

/// Returns the page as one HTML file that needs no other file: it contains drawings as SVG, numbers as JSON, the style
/// and the script. The page is complete without JavaScript. The script adds a display of the values at the pointer,
/// switches for series and scale, and a slider that smooths the curves. The page of an unfinished run reloads itself
/// every 20 seconds; sessionStorage stores which parts a reader opened or smoothed. The function accepts any content:
/// invalid UTF-8 is replaced, and numbers that are not finite are left out and marked.
std::string render_html(const Page& page);

/// Returns the HTML element that marks a page with its source (Page::source). If Page::source is set, the page has the
/// element of source_mark() in its first kilobyte.
std::string source_mark(const std::string& source);

}  // namespace cachet::report
