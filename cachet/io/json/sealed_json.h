#pragma once

#include <string>
#include <string_view>

namespace cachet::io {

/// A JSON object with a digest of itself: `object` (JSON) with a last field "digest", in the one way in which it is
/// written, so that no bit of the text can change unnoticed. Throws std::invalid_argument for what is not an object.
std::string sealed_json(std::string_view object);

/// Whether sealed_json() wrote this text, whatever fields it has.
bool is_sealed_json(std::string_view text);

}  // namespace cachet::io
