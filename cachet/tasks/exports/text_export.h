#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "cachet/models/model.h"

namespace cachet::tasks {

/// A task whose model writes text token by token: what an export of the model is held to.
class ScoresNextTokens {
 public:
  virtual ~ScoresNextTokens() = default;
  /// log p of the token behind each of so many beginnings of text, (beginnings, vocabulary) float32 or wider, as the
  /// model has them when it writes: of held-out text where the task opened some, else of made-up tokens. The beginnings
  /// are the same for every model of one size. The model is in evaluation mode.
  virtual at::Tensor next_token_scores(int64_t beginnings) = 0;
};

/// A plan whose model can be one that was rewritten, and runs on LibTorch by itself.
class TakesRewrittenModel {
 public:
  virtual ~TakesRewrittenModel() = default;
  /// What is built from now on is what `make` gives, a model of the same kind.
  virtual void replace_model(std::function<std::shared_ptr<models::Model>()> make) = 0;
};

}  // namespace cachet::tasks
