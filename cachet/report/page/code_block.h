#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// Writes an HTML figure of the unchanged text, in which table heads, keys and comments of TOML are highlighted.
void draw(Markup& html, const CodeBlock& code);

}  // namespace cachet::report
