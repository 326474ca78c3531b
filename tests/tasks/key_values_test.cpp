// Every key of every family of recipes, taken through a step of training: the end is success, or a sentence that names
// the key.
#include "tests/tasks/keys/key_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/robustness.h"
#include "tests/tasks/keys/documented_keys.h"
#include "tests/tasks/keys/drawn_value.h"
#include "tests/tasks/keys/key_family.h"
#include "tests/tasks/keys/known_key.h"
#include "tests/tasks/keys/trial.h"

namespace cachet::tasks {
namespace {

using test::KeyFamily;
using test::KnownKey;
using test::Settings;
using test::Trial;

std::string shortened(const std::string& value) {
  constexpr size_t kMax = 600;
  return value.size() < kMax ? value : value.substr(0, kMax) + "...";
}

class KeyValuesRobustness : public ::testing::TestWithParam<KeyFamily> {
 protected:
  void expect_no_fault(const KnownKey& key, const std::string& value, const std::string& fault) {
    EXPECT_TRUE(fault.empty()) << GetParam().name << ": " << key.place() << " = " << shortened(value) << "\n  "
                               << shortened(fault);
  }

  /// Tries a value. If a step with it takes more than a tiny model's may, the reader and the meta device take the value
  /// or name its key. Returns whether the step was within its limits.
  bool expect_a_step_or_a_sentence(const KnownKey& key, const std::string& value) {
    const Settings settings = test::settings_of(GetParam(), key, value);
    const Trial trial = test::train_a_step(GetParam(), settings);
    ++ends_[trial.end];
    if (trial.within_limits()) {
      expect_no_fault(key, value, test::fault_of(trial, key, value));
      return true;
    }
    const std::string fault = test::fault_of(test::build_shapes(GetParam(), settings), key, value);
    expect_no_fault(key, value, fault.empty() ? "" : "on the meta device, " + fault);
    return false;
  }

  /// A value of a key, and if a step with it takes too much, the largest smaller one with which it does not.
  void expect_largest_step(const KnownKey& key, const std::string& value) {
    if (expect_a_step_or_a_sentence(key, value)) return;
    for (const std::string& smaller : test::smaller_than(GetParam(), key, value))
      if (expect_a_step_or_a_sentence(key, smaller)) return;
    ADD_FAILURE() << GetParam().name << ": " << key.place() << " = " << shortened(value)
                  << ": no value is small enough for a step";
  }

  /// Whether a step can be taken where keys of the context are read at all.
  bool context_works(const Settings& context) {
    const auto [place, is_new] = contexts_.try_emplace(context, true);
    if (!is_new) return place->second;
    const Trial trial = test::train_a_step(GetParam(), context);
    place->second = trial.end == Trial::End::done;
    return place->second;
  }

  void TearDown() override {
    std::string text;
    for (const auto& [end, count] : ends_)
      text += std::string(" ") + std::to_string(count) + " " + to_string(end) + ",";
    std::cerr << GetParam().name << ":" << text << '\n';
  }

  std::map<Trial::End, int> ends_;
  std::map<Settings, bool> contexts_;
};

TEST_P(KeyValuesRobustness, EachKeyAtItsBounds) {
  const KeyFamily& family = GetParam();
  std::vector<KnownKey> keys = test::known_keys(family);
  std::mt19937_64 random(7);
  std::ranges::shuffle(keys, random);
  keys.resize(static_cast<size_t>(test::robustness_cases(static_cast<int>(keys.size()), 0.03, 4)));
  for (const KnownKey& key : keys) {
    EXPECT_TRUE(context_works(key.context)) << family.name << ": no step can be taken to try " << key.place();
    for (const std::string& value : test::bounds_of(family, key)) expect_largest_step(key, value);
  }
}

// Drawn values: 8,000 of all families together, 200 in CI.
TEST_P(KeyValuesRobustness, DrawnBySeed) {
  const KeyFamily& family = GetParam();
  const auto families = static_cast<int>(test::key_families().size());
  const int count = test::robustness_cases((8'000 + families - 1) / families, 0.025, (200 + families - 1) / families);
  const std::vector<KnownKey> keys = test::known_keys(family);
  std::mt19937_64 random(11);
  for (int i = 0; i < count; ++i) {
    const KnownKey& key = keys[random() % keys.size()];
    const std::string value = test::drawn_value(key, random);
    if (!context_works(key.context)) continue;  // which the other test reports
    expect_a_step_or_a_sentence(key, value);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, KeyValuesRobustness, ::testing::ValuesIn(test::key_families()),
                         [](const auto& test) { return test.param.name; });

// What the pages and recipes write, and what readers ask for, is among the keys that are taken through a step.
TEST(KeyValues, HaveEachDocumentedKey) {
  std::set<std::string> known{"task.kind"}, names;  // which chooses the family
  for (const KeyFamily& family : test::key_families()) {
    for (const KnownKey& key : test::known_keys(family)) {
      known.insert(key.path);
      names.insert(key.path.substr(key.path.rfind('.') + 1));
    }
  }
  EXPECT_GT(known.size(), 200U);
  for (const auto& [key, place] : test::documented_keys())
    EXPECT_TRUE(known.contains(key)) << key << ", at " << place << ", is tried with no family";
  for (const auto& [name, source] : test::keys_asked_for())
    EXPECT_TRUE(names.contains(name)) << name << ", of " << source << ", is tried with no family";
}

}  // namespace
}  // namespace cachet::tasks
