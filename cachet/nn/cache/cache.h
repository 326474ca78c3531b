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

  /// input (B, T, D), the layer's tokens; self_output (B, T, D), what its self-attention made of them. Returns what
  /// memory attention attends to, and stores the successor: in model state, shared by all samples, in training alone;
  /// in layout.state, one per lane, always. An empty batch leaves model state as it is.
  virtual Memory step(const torch::Tensor& input, const torch::Tensor& self_output, const AttentionArgs& layout) = 0;

  /// The name of the buffer that holds the stored tokens, in files too.
  static constexpr const char* kTokens = "tokens";
  /// The buffer kTokens (1, Tm, Dm): a view, not a copy. Undefined if a cache registers none.
  torch::Tensor stored_tokens() const;

  /// Sets the memory to zero, as it is before the first step.
  virtual void reset();
  void begin_renewal() override { reset(); }
  void end_renewal() override {}

  /// Declares what the cache remembers of a stream.
  virtual void declare_state(AttentionState& state) const = 0;

  /// Why what memory attention attends to in evaluation depends on the input; nothing where it does not.
  virtual std::optional<std::string> why_memory_varies() const = 0;

  /// Why evaluation attends to a memory such as training never attends to; nothing where it does not.
  virtual std::optional<std::string> why_memory_is_unfamiliar() const { return std::nullopt; }

  /// What memory attention attends to in evaluation, a copy. Throws c10::Error that says why where it depends on the
  /// input.
  Memory constant_memory() const;

 protected:
  /// What is stored, to read alone.
  virtual Memory stored_memory() const = 0;
  /// The mean over the samples of all processes, differentiable, from that of this one's (1, Tm, Dm).
  torch::Tensor mean_over_replicas(const torch::Tensor& mean, int64_t samples) const;
};

}  // namespace cachet::nn
