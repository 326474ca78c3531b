#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "cachet/config/document.h"

namespace cachet::test {

using Settings = std::vector<std::string>;  // "key=value", as --set has them

/// A family of recipes as one of them, whose model and data are tiny.
struct KeyFamily {
  std::string name;
  std::string recipe;  // without data.root
  std::function<void(const std::filesystem::path& folder)> write_data;

  /// What a word of a key needs in addition, by "key=value": files of another kind, a key that has no default.
  std::map<std::string, Settings> needs{};
  /// The words, as "key=value", that make it another family: its keys are tried there.
  std::set<std::string> elsewhere{};
};

inline void PrintTo(const KeyFamily& family, std::ostream* out) { *out << family.name; }

/// One of each reader of models, and of each kind of data.
const std::vector<KeyFamily>& key_families();

/// Its recipe with its data's folder, and settings over it.
config::Document document_of(const KeyFamily& family, const Settings& settings = {});

/// Where its data lie: written at the first call of a process.
const std::filesystem::path& data_of(const KeyFamily& family);

}  // namespace cachet::test
