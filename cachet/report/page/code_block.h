#pragma once

#include "cachet/report/content.h"
#include "cachet/report/page/markup.h"

namespace cachet::report {

/// An HTML figure: the text as it is, with the table heads, keys and comments of TOML set apart.
void draw(Markup& html, const CodeBlock& code);

}  // namespace cachet::report
