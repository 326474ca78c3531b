#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cachet::data {

/// Samples of an evaluation split that are also training samples.
struct SplitOverlap {
  std::string split{};       // "validation" or "test"
  std::string many{};        // name of the samples in the plural: "images"
  int64_t samples = 0;       // number of samples of the split
  int64_t shared = 0;        // number of these that are also training samples; equal samples count separately
  std::string evaluation{};  // name of the first such sample; `training` names the first training sample that equals it
  std::string training{};
};

/// Progress callback, called by one thread at a time: `done` of `total` units of work. An unknown `total` is 0.
using LookProgress = std::function<void(int64_t done, int64_t total)>;

/// Counts evaluation samples that share a key with a training sample. As in SampleGroups, the key of a picture is a
/// digest of its bytes, and the key of a text is split_key(), the normalized text. Empty keys (of blank texts) are not
/// compared. The memory of an OverlapSearch grows with the number of evaluation samples, not of training samples.
class OverlapSearch {
 public:
  /// Adds the next evaluation sample. For all evaluation samples, add_evaluation() must be called before the first
  /// training sample is added.
  void add_evaluation(const std::vector<std::string>& keys, std::string name);
  /// Adds a key of a training sample to the search. Keys must be added in sample order. If an evaluation sample has the
  /// same key, and this training sample is the first with the key, calls `name` for the training sample's name.
  void add_training(std::string_view key, const std::function<std::string()>& name);

  /// Returns the overlap of all samples added so far. The arguments become the fields `split` and `many` of the result.
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
  std::vector<std::optional<std::string>> training_;  // the first training sample with each key
};

}  // namespace cachet::data
