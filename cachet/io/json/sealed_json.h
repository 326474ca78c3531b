#pragma once

#include <string>
#include <string_view>

namespace cachet::io {

/// Returns the JSON object `object` with "digest" as an additional last field: the digest of the object's canonical
/// text, which reveals any later change. Throws std::invalid_argument if `object` is not an object.
std::string sealed_json(std::string_view object);

/// Whether a text is an unchanged result of sealed_json(). The object may have any other fields.
bool is_sealed_json(std::string_view text);

}  // namespace cachet::io
