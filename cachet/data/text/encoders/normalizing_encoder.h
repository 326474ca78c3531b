#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cachet/config/view.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/encoders/unicode_normalization.h"

namespace cachet::data {

/// Reads the key normalize of a [data] table: "none", "nfc" or "nfkc".
TextNormalization read_normalization(const config::View& data);
/// Returns the Unicode normalization that has the name `name` on the command line. Throws std::invalid_argument for an
/// unknown name.
TextNormalization normalization_named(std::string_view name);

/// Returns an encoder that first normalises texts to the form of its vocabulary; for `none`, returns `encoder` itself.
/// Throws io::Error, which begins with `name`, if a token of the vocabulary is not in the normalization form `form`.
/// A normalised text never contains a token in another normalization form: such a token shows that the vocabulary was
/// made from text in another form.
std::unique_ptr<const TextEncoder> with_normalization(std::unique_ptr<const TextEncoder> encoder,
                                                      TextNormalization form, const std::string& name);

}  // namespace cachet::data
