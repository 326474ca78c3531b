#pragma once

#include <string>
#include <vector>

#include "tests/tasks/keys/known_key.h"

namespace cachet::test {

/// The values of a key to try: for a choice each word; else the smallest and the largest that the reader accepts, the
/// largest first, and lists of no, one and thousands of entries.
std::vector<std::string> bounds_of(const KeyFamily& family, const KnownKey& key);

/// Smaller ones than a value that takes too much memory or time, the largest first.
std::vector<std::string> smaller_than(const KeyFamily& family, const KnownKey& key, const std::string& value);

}  // namespace cachet::test
