#pragma once

#include <string>
#include <string_view>

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

std::string base64(std::string_view bytes);

/// Returns the `data:` URL of a PNG, JPEG, GIF or WebP file (known by its first bytes), or "" for any other file.
std::string image_address(std::string_view bytes);

/// Writes an HTML figure of the pictures with their true labels. If a prediction is wrong, the figure shows the
/// predicted class and its probability.
void draw(Markup& html, const ImageGrid& grid);

}  // namespace cachet::report
