#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Draws an HTML figure: the unchanged text, with highlighted table heads, keys and comments of TOML.
void draw(Markup& html, const CodeBlock& code);

}  // namespace cachet::report
