#pragma once

#include <string>
#include <string_view>

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

std::string base64(std::string_view bytes);

/// A data: address of a PNG, JPEG, GIF or WebP file, recognised by its first bytes; empty for anything else.
std::string image_address(std::string_view bytes);

/// An HTML figure: the pictures, each with its truth, or with prediction, probability and truth where they differ.
void draw(Markup& html, const ImageGrid& grid);

}  // namespace cachet::report
