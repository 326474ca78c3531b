#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/tasks/keys/key_family.h"

namespace cachet::test {

// The messages of the reader of a family's recipes about settings.

/// Its message about one key, "" if there is none. Problems of other keys do not count.
std::string complaint_of(const KeyFamily& family, const Settings& settings, const std::string& key);

bool accepts(const KeyFamily& family, const Settings& settings);

Settings with(Settings settings, const std::string& key, const std::string& value);

/// The parts of a text between a sign; an empty last part does not count.
std::vector<std::string> parts_of(const std::string& text, char between);

/// What `work` returns in a process of its own, since the reader may crash. Throws std::runtime_error if it does;
/// `what` names what was tried.
std::string answer_of(const KeyFamily& family, const std::string& what, const std::function<std::string()>& work);

}  // namespace cachet::test
