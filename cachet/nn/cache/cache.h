#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cachet/nn/attention/attention_state.h"
#include "cachet/nn/base/observer.h"
#include "cachet/nn/base/state_module.h"
#include "cachet/nn/base/synced_module.h"
#include "cachet/nn/layout.h"
#include "cachet/nn/plug_in.h"
#include "cachet/ops/support/recalibrated.h"

namespace cachet::nn {

/// What memory attention attends to.
struct Memory {
  torch::Tensor tokens;  // (B, Tm, Dm), or (1, Tm, Dm) when all samples share it
  TokenLayout layout;
};

/// A fixed-length memory of earlier tokens of an attention layer. A renewal starts with an empty memory.
class Cache : public StateModule, public SyncedModule, public Observable, public ops::Recalibrated, public PlugIn {
 public:
  using StateModule::StateModule;

  /// input (B, T, D), the layer's tokens; self_output (B, T, D), the output of its self-attention. Returns the memory
  /// that memory attention reads, and stores the next one: in model state, shared by all samples, only in training; in
  /// layout.state, one for each batch row, always. An empty batch does not change model state.
  virtual Memory step(const torch::Tensor& input, const torch::Tensor& self_output, const AttentionArgs& args) = 0;

  /// The name of the buffer that holds the stored tokens, in files too.
  static constexpr const char* kTokens = "tokens";
  /// The buffer kTokens (1, Tm, Dm): a view, not a copy. Undefined if a cache registers none.
  torch::Tensor stored_tokens() const;

  /// Sets the memory to zero, as it is before the first step.
  virtual void reset();
  void begin_renewal() override { reset(); }
  void end_renewal() override {}

  /// Declares the cache's state of a session.
  virtual void declare_state(AttentionState& state) const = 0;

  /// The reason why the evaluation-time memory depends on the input; nothing if it is constant.
  virtual std::optional<std::string> why_memory_varies() const = 0;

  /// The reason why evaluation reads a kind of memory that training never reads; nothing if it reads the same kind.
  virtual std::optional<std::string> why_memory_is_unfamiliar() const { return std::nullopt; }

  /// A copy of the memory that memory attention reads in evaluation. Throws c10::Error with the reason if the memory
  /// depends on the input.
  Memory constant_memory() const;

 protected:
  /// What is stored, to read alone.
  virtual Memory stored_memory() const = 0;
  /// The mean over the samples of all processes, differentiable, from that of this one's (1, Tm, Dm).
  torch::Tensor mean_over_replicas(const torch::Tensor& mean, int64_t samples) const;
};

}  // namespace cachet::nn
