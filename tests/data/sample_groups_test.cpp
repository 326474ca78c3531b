#include "cachet/data/sample_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace cachet::data {
namespace {

TEST(SampleGroups, AreTheConnectedComponents) {
  SampleGroups samples;
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"a", "x"}, {"b", "y"}, {"c"}, {}, {"d", "y"}, {"a", "d"}, {"e", "e"}})
    samples.add(keys);
  EXPECT_EQ(samples.groups(), (std::vector<std::vector<int64_t>>{{0, 1, 4, 5}, {2}, {3}, {6}}));
  EXPECT_TRUE(SampleGroups().groups().empty());
}

TEST(SampleGroups, OfRandomLinksAreThoseOfASearch) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    CounterRandom random(seed, RandomStream::pairs, 0, 0);
    SampleGroups samples;
    std::vector<std::vector<std::string>> keys;
    for (int64_t sample = 0; sample < 60; ++sample) {
      keys.emplace_back();
      for (int key = 0; key < 2; ++key) keys.back().push_back(std::to_string(random.below(90)));
      samples.add(keys.back());
    }
    // Labels spread along shared keys until nothing changes.
    std::vector<size_t> label(keys.size());
    for (size_t i = 0; i < label.size(); ++i) label[i] = i;
    for (bool changed = true; changed;) {
      changed = false;
      std::map<std::string, size_t> least;
      for (size_t i = 0; i < keys.size(); ++i)
        for (const std::string& key : keys[i]) {
          const auto place = least.emplace(key, label[i]).first;
          place->second = std::min(place->second, label[i]);
        }
      for (size_t i = 0; i < keys.size(); ++i)
        for (const std::string& key : keys[i]) {
          if (least[key] >= label[i]) continue;
          label[i] = least[key];
          changed = true;
        }
    }
    std::map<size_t, std::vector<int64_t>> expected;
    for (size_t i = 0; i < label.size(); ++i) expected[label[i]].push_back(static_cast<int64_t>(i));
    std::vector<std::vector<int64_t>> groups;
    for (const auto& [first, group] : expected) groups.push_back(group);
    EXPECT_EQ(samples.groups(), groups) << seed;
  }
}

TEST(DealtGroups, FillPartsExactlyAndAreAFunctionOfTheSeed) {
  std::vector<int64_t> weights(100, 1);
  weights[3] = 30;
  weights[7] = 5;
  const auto deal = [&](uint64_t seed) {
    return dealt_groups(weights, {10, 20}, {seed, RandomStream::held_out, 0, 0});
  };
  std::set<std::vector<size_t>> different;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<size_t> parts = deal(seed);
    std::array<int64_t, 3> sums{};
    for (size_t i = 0; i < parts.size(); ++i) sums.at(parts[i]) += weights[i];
    EXPECT_EQ(sums[0], 10);
    EXPECT_EQ(sums[1], 20);
    EXPECT_EQ(parts[3], 2U) << "there is no room for it";
    EXPECT_EQ(parts, deal(seed));
    different.insert(parts);
  }
  EXPECT_EQ(different.size(), 20U);
  EXPECT_EQ(dealt_groups({}, {1}, {0, RandomStream::held_out, 0, 0}), std::vector<size_t>{});
}

}  // namespace
}  // namespace cachet::data
