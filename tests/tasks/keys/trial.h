#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/tasks/keys/child.h"
#include "tests/tasks/keys/key_family.h"
#include "tests/tasks/keys/known_key.h"

namespace cachet::test {

/// What became of a recipe with some settings over it.
struct Trial {
  enum class End {
    done,       // read, built, trained, evaluated and saved
    refused,    // a sentence of the reader's, the builder's or the trainer's
    failed,     // a message of a library's, or an exception of a kind that is not reported to users
    crashed,    // no message at all
    too_large,  // more memory or time than a tiny model's step may take
    too_slow,
  };
  End end = End::done;
  std::string message;

  bool within_limits() const { return end != End::too_large && end != End::too_slow; }
};

const char* to_string(Trial::End end);

/// Trains one step of a family's model with settings over its recipe, evaluates and saves it.
Trial train_a_step(const KeyFamily& family, const Settings& settings);

/// Reads the recipe, and builds its model with shapes and no values.
Trial build_shapes(const KeyFamily& family, const Settings& settings);

/// Why a trial's end is not one that a user may meet after giving `key` a value: it neither succeeds nor reports what
/// is wrong in sentences that name the key. More than its memory or time is a fault too. Empty if nothing is wrong.
std::string fault_of(const Trial& trial, const KnownKey& key, const std::string& value);

}  // namespace cachet::test
