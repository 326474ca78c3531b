#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "cachet/models/language/language_model.h"
#include "cachet/models/language/token_sampling.h"

namespace cachet::models {

/// Continues a text, token by token, with a model in evaluation mode. The memory of the earlier tokens has a bounded
/// size. The contents of the memory depend on the model: keys and values of the last memory_length tokens; running
/// sums; a cache and the tokens of the current segment; or, for other models, the tokens of the last segment.
class TokenGenerator {
 public:
  /// `segments`: the way in which the model reads segments. `known` is the number of ids that can be sampled: the ids
  /// from `known` upward only pad the model's vocabulary. If `known` is 0, all ids can be sampled. Throws
  /// std::invalid_argument for invalid sampling options, and if `known` is larger than the model's vocabulary.
  TokenGenerator(LanguageModel& model, const SegmentOptions& segments, const SamplingOptions& sampling, uint64_t seed,
                 int64_t known = 0);

  /// Reads the given tokens. Read at least one token before the first call of next().
  void read(std::span<const int64_t> tokens);
  /// Chooses the next token at random, and then reads it. Equal seeds give equal tokens on one machine. Throws
  /// ops::NotFinite for scores that are not finite.
  int64_t next();

 private:
  void read_one(int64_t token);
  std::vector<double> scores();

  LanguageModel& model_;
  SamplingOptions sampling_;
  int64_t known_;
  int64_t segment_length_;
  bool keeps_past_;
  LanguageSession session_;
  std::vector<int64_t> unread_;  // tokens that the session has not read: in this segment, or since the last scores
  std::vector<int64_t> seen_;    // earlier tokens, if the options penalize them
  std::mt19937_64 random_;
};

}  // namespace cachet::models
