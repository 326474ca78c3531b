#pragma once

#include <string>

#include "cachet/data/text/encoders/text_encoder.h"

namespace cachet::tasks {

/// Returns the beginning of a text, cut to fit into a cell of a table. A line end becomes "↵"; any other character that
/// cannot be shown becomes "?"; a text that is cut ends with "…".
std::string shown_text(const std::string& text);

/// Returns the text of tokens as the encoder decodes them. An unknown token becomes the unknown symbol of the
/// vocabulary: "<unk>" for words, "⁇" for subwords.
std::string shown_text(data::TokenView tokens, const data::TextEncoder& encoder);

}  // namespace cachet::tasks
