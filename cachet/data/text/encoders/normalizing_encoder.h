#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cachet/config/view.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/encoders/unicode_normalization.h"

namespace cachet::data {

/// Reads normalize = "none" | "nfc" | "nfkc" of a [data] table.
TextNormalization read_normalization(const config::View& data);
/// Returns the form that a user names on the command line. Throws std::invalid_argument for another word.
TextNormalization normalization_named(std::string_view name);

/// Returns an encoder that normalises texts to the form of its vocabulary before it encodes them, or `encoder` for
/// `none`. Throws io::Error that begins with `name` if a token of the vocabulary is not in that form. No text could
/// contain such a token, so the vocabulary was made of other text.
std::unique_ptr<const TextEncoder> with_normalization(std::unique_ptr<const TextEncoder> encoder,
                                                      TextNormalization form, const std::string& name);

}  // namespace cachet::data
