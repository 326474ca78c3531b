#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>
#include <string>

namespace cachet::nn {

/// What a module can be watched for.
enum class Signal {
  share,               // σ(λ) (H)
  self_output,         // o_self (B, T, D)
  memory_output,       // o_mem (B, T, Dm)
  memory_tokens,       // what memory attention attends to (B or 1, Tm, Dm)
  token_grid,          // int64 (3): class tokens, height and width of the o that are told behind it; not off a grid
  reset_gate,          // r of a gated cache's update (B, Tm, Dm)
  update_gate,         // u of it (B, Tm, Dm)
  statistic,           // a norm's own statistic of the step, before any averaging (C)
  used_statistic,      // the one it normalised with (C)
  gradient_statistic,  // the step's own mean of g·z, seen in the backward pass (C)
  attention_operands,  // queries (B, H, Lq, d) as they enter an attention function
  attention_keys,      // the keys that they meet (B or 1, H, Lk, d), told behind them
  attention_bias,      // what is added to their scores, −∞ for hidden keys, told behind these: broadcasts to
                       // (B, H, Lq, Lk)
  block_output,        // what a transformer block gives (B, T, D)
};

/// Called with the module's path ("blocks.3.attn"), what is seen, and the value (detached).
using Listener = std::function<void(const std::string& path, Signal signal, const at::Tensor& value)>;

/// A module that tells its listener, if it has one, what passes through it. Without a listener that costs one test of a
/// pointer.
class Observable {
 public:
  Observable() = default;
  /// Nobody listens to a copy.
  Observable(const Observable&) {}
  Observable& operator=(const Observable&) { return *this; }
  virtual ~Observable() = default;
  /// path: the name under which the listener knows this module.
  void listen(std::string path, Listener listener);
  void stop_listening() { listener_ = nullptr; }

 protected:
  bool observed() const { return static_cast<bool>(listener_); }
  void tell(Signal signal, const at::Tensor& value) const;

 private:
  std::string path_;
  Listener listener_;
};

/// Attaches a listener to every observable module of a tree, for as long as it lives.
class Observation {
 public:
  Observation(torch::nn::Module& root, const Listener& listener);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

 private:
  std::vector<std::shared_ptr<torch::nn::Module>> modules_;
};

}  // namespace cachet::nn
