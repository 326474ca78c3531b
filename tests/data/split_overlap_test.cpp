#include "cachet/data/split_overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cachet/data/random.h"

namespace cachet::data {
namespace {

OverlapSearch search_of(const std::vector<std::vector<std::string>>& evaluation,
                        const std::vector<std::string>& training) {
  OverlapSearch search;
  for (size_t i = 0; i < evaluation.size(); ++i) search.add_evaluation(evaluation[i], "e" + std::to_string(i));
  for (size_t i = 0; i < training.size(); ++i)
    search.add_training(training[i], [&] { return "t" + std::to_string(i); });
  return search;
}

TEST(OverlapSearch, CountsEachEvaluationSampleOnce) {
  const SplitOverlap found =
      search_of({{"a"}, {"x", "b"}, {"b", "y"}, {"b"}, {}, {"c"}}, {"y", "b", "z", "b", "x"}).found("test", "pairs");
  EXPECT_EQ(found.split, "test");
  EXPECT_EQ(found.many, "pairs");
  EXPECT_EQ(found.samples, 6);
  EXPECT_EQ(found.shared, 3) << "two keys of a sample are one, equal samples are two, and so are two of training";
  EXPECT_EQ(found.evaluation, "e1");
  EXPECT_EQ(found.training, "t4") << "x, its first key that training has";
}

TEST(OverlapSearch, NamesTheFirstTrainingSampleAndAsksForNoOther) {
  OverlapSearch search;
  search.add_evaluation({"a"}, "e");
  int asked = 0;
  for (int i = 0; i < 3; ++i)
    search.add_training("a", [&] {
      ++asked;
      return "t" + std::to_string(i);
    });
  search.add_training("b", [&] { return std::to_string(++asked); });
  EXPECT_EQ(search.found("test", "images").training, "t0");
  EXPECT_EQ(asked, 1);
}

TEST(OverlapSearch, EmptyKeysAreNotCompared) {
  const SplitOverlap found = search_of({{""}, {"", "a"}}, {"", "b"}).found("test", "pairs");
  EXPECT_EQ(found.samples, 2);
  EXPECT_EQ(found.shared, 0);
  EXPECT_TRUE(found.evaluation.empty());
}

TEST(OverlapSearch, OfRandomKeysIsThatOfSets) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    CounterRandom random(seed, RandomStream::pairs, 0, 0);
    std::vector<std::vector<std::string>> evaluation(20);
    for (auto& keys : evaluation)
      for (uint64_t i = random.below(4); i > 0; --i) keys.push_back(std::to_string(random.below(60)));
    std::vector<std::string> training;
    for (int i = 0; i < 30; ++i) training.push_back(std::to_string(random.below(60)));
    const std::set<std::string> known(training.begin(), training.end());
    const auto is_shared = [&](const std::vector<std::string>& keys) {
      return std::ranges::any_of(keys, [&](const std::string& key) { return known.contains(key); });
    };
    EXPECT_EQ(search_of(evaluation, training).found("test", "images").shared,
              std::ranges::count_if(evaluation, is_shared));
  }
}

}  // namespace
}  // namespace cachet::data
