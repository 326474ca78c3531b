#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cachet::config {

/// A number with its noun: counted(1, "class", "classes") is "1 class", counted(3, "class", "classes") "3 classes". If
/// `many` is left out, it is `one` with an s.
std::string counted(int64_t count, std::string_view one, std::string_view many = {});

}  // namespace cachet::config
