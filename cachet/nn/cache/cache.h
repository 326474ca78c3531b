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

/// The tokens that memory attention attends to.
struct Memory {
  torch::Tensor tokens;  // (B, Tm, Dm), or (1, Tm, Dm) if all samples share one memory
  TokenLayout layout;
};

/// A fixed-length memory of earlier tokens of an attention layer. The recalibration of a cache (ops::Recalibrated)
/// begins with zeros.
class Cache : public StateModule, public SyncedModule, public Observable, public ops::Recalibrated, public PlugIn {
 public:
  using StateModule::StateModule;

  /// input (B, T, D): the layer's tokens; self_output (B, T, D): the output of its self-attention. Returns the memory
  /// that memory attention reads, and computes the next memory. The module's memory serves all samples and changes only
  /// in training, if the batch has samples. A memory in args.state may serve one batch row and change in evaluation.
  virtual Memory step(const torch::Tensor& input, const torch::Tensor& self_output, const AttentionArgs& args) = 0;

  /// The name of the buffer that stores the tokens, both in the module and in files.
  static constexpr const char* kTokens = "tokens";
  /// Returns the buffer kTokens (1, Tm, Dm) itself, without a copy. If the cache registers no buffer kTokens, returns
  /// an undefined tensor.
  torch::Tensor stored_tokens() const;

  /// Sets the memory to zero, its value before the first step.
  virtual void reset();
  void begin_renewal() override { reset(); }
  void end_renewal() override {}

  /// Declares the cache's tensors in the state of a session.
  virtual void declare_state(AttentionState& state) const = 0;

  /// Returns the reason why the tokens that memory attention reads in evaluation depend on the model's input. Returns
  /// std::nullopt if the tokens do not depend on the input.
  virtual std::optional<std::string> why_memory_varies() const = 0;

  /// Returns why evaluation reads a kind of memory that training never reads. Returns std::nullopt if evaluation and
  /// training read the same kind of memory.
  virtual std::optional<std::string> why_memory_is_unfamiliar() const { return std::nullopt; }

  /// Returns a copy of the memory that memory attention reads in evaluation. If the memory depends on the model's
  /// input, throws c10::Error with the reason.
  Memory constant_memory() const;

 protected:
  /// Returns the stored memory. Callers must not change it.
  virtual Memory stored_memory() const = 0;
  /// Returns the mean over the samples of all processes, from the mean (1, Tm, Dm) of this process. Differentiable.
  torch::Tensor mean_over_replicas(const torch::Tensor& mean, int64_t samples) const;
};

}  // namespace cachet::nn
