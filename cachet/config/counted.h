#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cachet::config {

/// Returns a number with its noun: counted(1, "class", "classes") is "1 class", and counted(3, "class", "classes") is
/// "3 classes". If `many` is empty, the plural is `one` plus the letter s.
std::string counted(int64_t count, std::string_view one, std::string_view many = {});

}  // namespace cachet::config
