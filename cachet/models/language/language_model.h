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

/// How a model reads a stream: training and evaluation may differ.
struct SegmentOptions {
  int64_t memory_length = 0;  // tokens of earlier segments that stay visible
  int64_t clamp_length = 0;   // distances beyond it are taken as it; 0: none is
  bool same_length = false;   // each token sees the last memory_length tokens, itself included, and no more
  bool whole_past = false;    // all of the text before stays visible, in a state of fixed size: running sums
};

/// BatchRows of text that a model reads segment by segment: what it remembers of each. The state is in checkpoints
/// (AttentionState::named_tensors), the rest is the model's options again.
struct LanguageSession {
  SegmentOptions segments;
  std::shared_ptr<nn::AttentionState> state;
};

/// A model of the next token: from tokens to a distribution over the vocabulary behind each.
class LanguageModel : public virtual Model {
 public:
  virtual LanguageShape language_shape() const = 0;
  /// How the model reads text unless it is told otherwise.
  virtual SegmentOptions segments() const = 0;

  /// A stream of `lanes` texts before their first tokens. For training what is remembered is read again with a graph of
  /// its own; in evaluation it is kept as the layers made it, which needs less time.
  virtual LanguageSession make_session(int64_t batch_rows, const SegmentOptions& segments) const = 0;
  [[deprecated("make_session")]] LanguageSession make_stream(int64_t batch_rows, const SegmentOptions& segments) const {
    return make_session(batch_rows, segments);
  }

  /// −log p of the next tokens, in nats: ids and targets (lanes, L) int64, target −1 for none -> (lanes, L), in float32
  /// or wider. The stream goes on behind the segment.
  virtual torch::Tensor negative_log_likelihood(const torch::Tensor& ids, const torch::Tensor& targets,
                                                LanguageSession& session) = 0;
  /// ids (lanes, L) -> log p of each token behind the last one (lanes, vocabulary). The stream goes on behind them.
  virtual torch::Tensor next_token(const torch::Tensor& ids, LanguageSession& session) = 0;

  /// The stream goes on behind a segment that nobody asks anything of.
  virtual void read(const torch::Tensor& ids, LanguageSession& session) = 0;
  /// Whether a stream remembers something that moves with each segment and not with each token: a cache, memory tokens.
  virtual bool remembers_segments() const = 0;

  torch::Device device() const { return parameters().at(0).device(); }

  /// A segment of made-up tokens after others that fill the memory of segments().
  Trial trial(int64_t batch, const torch::TensorOptions& options) override;

 private:
  /// A stream whose memory is full, after a segment with these tokens.
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

/// What a corpus asks of the model unless the recipe says otherwise.
struct LanguageDefaults {
  std::optional<int64_t> vocabulary{};
};

using TextStream [[deprecated("LanguageSession")]] = LanguageSession;

}  // namespace cachet::models
