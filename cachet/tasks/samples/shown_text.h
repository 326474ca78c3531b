#pragma once

#include <string>

#include "cachet/data/text/encoders/text_encoder.h"

namespace cachet::tasks {

/// The beginning of a text as a cell of a table has it: a line end is "↵", another character that cannot be shown "?",
/// and a text that is cut ends with "…".
std::string shown_text(const std::string& text);

/// The same of tokens, as who encodes texts reads them back: an unknown one is what the vocabulary has for such,
/// "<unk>" of words and "⁇" of subwords.
std::string shown_text(data::TokenView tokens, const data::TextEncoder& encoder);

}  // namespace cachet::tasks
