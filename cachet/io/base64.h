#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::io {

/// RFC 4648, with padding and no line breaks.
std::string encode_base64(std::span<const std::byte> bytes);

/// The inverse. Throws io::Error for any character outside the alphabet, wrong padding, or spare bits that are not
/// zero.
std::vector<std::byte> decode_base64(std::string_view text);

}  // namespace cachet::io
