#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cachet/models/model.h"
#include "cachet/models/model_plan.h"
#include "cachet/nn/attention/attention_state.h"

namespace cachet::models {

/// What text a language model is made for.
struct LanguageShape {
  int64_t vocabulary = 0;       // ids are below it
  int64_t target_length = 150;  // tokens of a segment
};

ModelInput input_of(const LanguageShape& text);

/// How a model reads the segments of a session: training and evaluation may differ.
struct SegmentOptions {
  int64_t memory_length = 0;  // tokens of earlier segments that stay visible
  int64_t clamp_length = 0;   // distances beyond it are taken as it; 0: none is
  bool same_length = false;   // each token sees the last memory_length tokens, itself included, and no more
  bool whole_past = false;    // all of the text before stays visible, in a state of fixed size: running sums
};

/// Batch rows of text that a model reads segment by segment: what it remembers of each. The state is in checkpoints
/// (AttentionState::named_tensors), the rest is the model's options again.
struct LanguageSession {
  SegmentOptions segments;
  std::shared_ptr<nn::AttentionState> state;
};

/// A model of the next token: from tokens to a distribution over the vocabulary after each token.
class LanguageModel : public virtual Model {
 public:
  virtual LanguageShape language_shape() const = 0;
  /// The default segments in which the model reads text.
  virtual SegmentOptions segments() const = 0;

  /// A session of `batch_rows` texts before their first tokens. In training, the memory is projected again with its own
  /// graph; in evaluation, the layers' keys and values are cached, which needs less time.
  virtual LanguageSession make_session(int64_t batch_rows, const SegmentOptions& segments) const = 0;
  [[deprecated("make_session")]] LanguageSession make_stream(int64_t batch_rows, const SegmentOptions& segments) const {
    return make_session(batch_rows, segments);
  }

  /// −log p of the next tokens, in nats: ids and targets (rows, L) int64, target −1 for none -> (rows, L), in float32
  /// or wider. Advances the session by the segment.
  virtual torch::Tensor negative_log_likelihood(const torch::Tensor& ids, const torch::Tensor& targets,
                                                LanguageSession& session) = 0;
  /// ids (rows, L) -> log p of each token after the last one (rows, vocabulary). Advances the session by these ids.
  virtual torch::Tensor next_token(const torch::Tensor& ids, LanguageSession& session) = 0;

  /// Advances the session by a segment, without computing a distribution.
  virtual void read(const torch::Tensor& ids, LanguageSession& session) = 0;
  /// Whether a session holds something that changes with each segment and not with each token: a cache, memory tokens.
  virtual bool remembers_segments() const = 0;

  torch::Device device() const { return parameters().at(0).device(); }

  /// A segment of synthetic tokens after others that fill the memory of segments().
  Trial trial(int64_t batch, const torch::TensorOptions& options) override;

 private:
  /// A session whose memory is full, after a segment with these tokens.
  LanguageSession session_in_the_middle(const torch::Tensor& ids);
};

struct LanguageModelPlan {
  std::string name;
  LanguageShape text;
  SegmentOptions segments;
  std::function<std::shared_ptr<LanguageModel>()> build;
  bool relative_positions = true;  // else there are no distances to clamp

  operator ModelPlan() const { return {name, input_of(text), build}; }
};

/// What a corpus requires of the model, as defaults of the recipe.
struct LanguageDefaults {
  std::optional<int64_t> vocabulary{};
};

using TextStream [[deprecated("LanguageSession")]] = LanguageSession;

}  // namespace cachet::models
