#pragma once

#include <string>
#include <string_view>

namespace cachet::io {

/// Returns `object` (JSON) with a last field "digest", the digest of the object in its unique written form, so that any
/// change of the text is noticed. Throws std::invalid_argument if `object` is not an object.
std::string sealed_json(std::string_view object);

/// Whether sealed_json() wrote this text, with any fields.
bool is_sealed_json(std::string_view text);

}  // namespace cachet::io
