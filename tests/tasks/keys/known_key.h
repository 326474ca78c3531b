#pragma once

#include <string>
#include <vector>

#include "tests/tasks/keys/key_family.h"

namespace cachet::test {

/// A key as its reader takes it: found from the reader's messages about values, so that there is no second list of
/// keys.
struct KnownKey {
  enum class Type { boolean, word, integer, real, text, span, integers, reals, texts };
  std::string path;   // "model.cache.ratio"
  Settings context;   // the words of other keys with which the reader asks for it
  std::string usual;  // its value there, as TOML
  Type type = Type::text;
  std::vector<std::string> words;  // of a choice, as TOML

  std::string place() const;  // "model.norm.window (model.norm.kind="un")"
};

/// What makes a recipe of the family one where the key has a value.
Settings settings_of(const KeyFamily& family, const KnownKey& key, const std::string& value);

/// All keys of a family, each once for each set of words with which the reader asks for it: found from the family's
/// recipe by giving each choice each of its words, and so on with what comes up there.
std::vector<KnownKey> known_keys(const KeyFamily& family);

/// Items as a list of TOML.
std::string list_of(const std::vector<std::string>& items);

}  // namespace cachet::test
