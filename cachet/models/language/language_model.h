#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cachet/models/model.h"
#include "cachet/models/model_plan.h"
#include "cachet/nn/attention/attention_state.h"

namespace cachet::models {

/// The vocabulary of the text that a language model reads, and the length of its segments.
struct LanguageShape {
  int64_t vocabulary = 0;       // number of ids
  int64_t target_length = 150;  // length of a segment in tokens
};

ModelInput input_of(const LanguageShape& text);

/// The way in which a model reads the segments of a session. Training and evaluation may differ.
struct SegmentOptions {
  int64_t memory_length = 0;  // number of tokens of earlier segments that stay visible
  int64_t clamp_length = 0;   // maximum distance, to which longer distances are clamped; 0: no limit
  bool same_length = false;   // each token sees only the last memory_length tokens, itself included
  bool whole_past = false;    // the whole earlier text stays visible, in a state of fixed size (running sums)
};

/// Batch rows of text that a model reads segment by segment, with the state of each row. Checkpoints store the state
/// (AttentionState::named_tensors). After a checkpoint is loaded, the session uses the SegmentOptions of the model.
struct LanguageSession {
  SegmentOptions segments;
  std::shared_ptr<nn::AttentionState> state;
};

/// A model that predicts, after each token of a text, the distribution of the next token over the vocabulary.
class LanguageModel : public virtual Model {
 public:
  virtual LanguageShape language_shape() const = 0;
  /// Returns the default options of the segments in which the model reads text.
  virtual SegmentOptions segments() const = 0;

  /// Returns a session of `batch_rows` texts before their first tokens. In training, each segment projects the memory
  /// again within its own autograd graph. In evaluation, the layers' keys and values are cached, which saves time.
  virtual LanguageSession make_session(int64_t batch_rows, const SegmentOptions& segments) const = 0;
  [[deprecated("make_session")]] LanguageSession make_stream(int64_t batch_rows, const SegmentOptions& segments) const {
    return make_session(batch_rows, segments);
  }

  /// Returns −log p of the next tokens, in nats: ids and targets (rows, L) int64 (−1: no target) -> (rows, L), in
  /// float32 or wider. The call advances the session to the position after the tokens `ids`.
  virtual torch::Tensor negative_log_likelihood(const torch::Tensor& ids, const torch::Tensor& targets,
                                                LanguageSession& session) = 0;
  /// Returns log p of the token that follows ids (rows, L), as (rows, vocabulary). Advances the session by ids.
  virtual torch::Tensor next_token(const torch::Tensor& ids, LanguageSession& session) = 0;

  /// Advances the session by a segment, without computing a distribution.
  virtual void read(const torch::Tensor& ids, LanguageSession& session) = 0;
  /// Whether a session has a state (a cache, memory tokens) that changes with each segment instead of each token.
  virtual bool remembers_segments() const = 0;

  torch::Device device() const { return parameters().at(0).device(); }

  /// Runs a segment of synthetic tokens in a session with a full memory (see segments()).
  Trial trial(int64_t batch, const torch::TensorOptions& options) override;

 private:
  /// Returns a session that has already read the segment `ids`. If the model has a memory (as Transformer-XL has), the
  /// memory of the session has its full length.
  LanguageSession session_in_the_middle(const torch::Tensor& ids);
};

struct LanguageModelPlan {
  std::string name;
  LanguageShape text;
  SegmentOptions segments;
  std::function<std::shared_ptr<LanguageModel>()> build;
  bool relative_positions = true;  // whether the model encodes distances of tokens, which can be clamped

  operator ModelPlan() const { return {name, input_of(text), build}; }
};

/// The values of a corpus that are the default values of `[model]` keys in a recipe.
struct LanguageDefaults {
  std::optional<int64_t> vocabulary{};
};

using TextStream [[deprecated("LanguageSession")]] = LanguageSession;

}  // namespace cachet::models
