#pragma once

#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace cachet::processes {

/// Returns the text under a key, or an empty optional if there is no such key. Throws c10::Error if the store is gone.
std::optional<std::string> find_text(c10d::Store& store, const std::string& key);

/// Stores a text under a key. Throws c10::Error if the store is gone.
void set_text(c10d::Store& store, const std::string& key, const std::string& text);

}  // namespace cachet::processes
