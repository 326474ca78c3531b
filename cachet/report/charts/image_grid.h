#pragma once

#include <string>
#include <string_view>

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

std::string base64(std::string_view bytes);

/// Returns a data: address of a PNG, JPEG, GIF or WebP file, recognised by its first bytes; empty for other files.
std::string image_address(std::string_view bytes);

/// Draws an HTML figure of the pictures with their truth; if the prediction differs, also with it and its probability.
void draw(Markup& html, const ImageGrid& grid);

}  // namespace cachet::report
