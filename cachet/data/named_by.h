#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "cachet/io/error.h"

namespace cachet::data {

/// Appends to a message those recipe keys that the message does not yet contain: "...: holds no class folders; see
/// data.root and data.train_folder".
std::string with_keys(const std::string& message, std::initializer_list<std::string_view> keys);

/// Calls `read`. The function `read` reads files or folders whose paths are the values of the recipe keys `keys`. If
/// `read` throws an io::Error, the function throws an io::Error with the same message and the names of the keys.
template <class Read>
auto named_by(std::initializer_list<std::string_view> keys, const Read& read) try {
  return read();
} catch (const io::Error& error) {
  throw io::Error(with_keys(error.what(), keys));
}

}  // namespace cachet::data
