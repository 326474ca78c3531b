#pragma once

#include <map>
#include <string>

namespace cachet::test {

/// The keys that the pages of docs/ give values (`--set KEY=`, `KEY = value`, blocks of TOML) and those that the
/// recipes below recipes/ write, each with a position where it stands.
std::map<std::string, std::string> documented_keys();

/// The keys that readers ask for only where they are written, View::has("KEY"), which no listing of keys has, each
/// with the source that asks: names without their tables.
std::map<std::string, std::string> keys_asked_for();

}  // namespace cachet::test
