#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cachet::data {

/// Samples of an evaluation split that are training samples, too.
struct SplitOverlap {
  std::string split{};       // "validation", "test"
  std::string many{};        // what its samples are called: "images"
  int64_t samples = 0;       // of the split
  int64_t shared = 0;        // that are also in the training data; each counts, also if two are equal
  std::string evaluation{};  // the first of these by name, and the first training sample that is equal to it
  std::string training{};
};

/// Called now and then, not by two threads at once: `done` of `total` pieces of work, 0 if the total is not known.
using LookProgress = std::function<void(int64_t done, int64_t total)>;

/// Counts evaluation samples that share a key with a training sample. The keys are those by which SampleGroups keeps
/// samples in one split: digests of the bytes of a picture, split_key() of a text. An empty key (of a text
/// of blanks) is not compared. Memory is that of the evaluation samples.
class OverlapSearch {
 public:
  /// Adds the next evaluation sample. All of them come before the first training sample.
  void add_evaluation(const std::vector<std::string>& keys, std::string name);
  /// Adds a key of a training sample, in the order of these samples; `name` is called only if the name is stored.
  void add_training(std::string_view key, const std::function<std::string()>& name);

  /// What was found of the split of this name.
  SplitOverlap found(std::string split, std::string many) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  struct Sample {
    std::vector<size_t> keys;  // indices in training_
    std::string name;
  };

  std::vector<Sample> samples_;
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> places_;
  std::vector<std::optional<std::string>> training_;  // of each key, the first training sample that has it
};

}  // namespace cachet::data
