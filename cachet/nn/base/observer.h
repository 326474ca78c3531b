#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cachet::nn {

/// The values that a module can report.
enum class Signal {
  mixing_gate,         // σ(λ) (H)
  self_output,         // o_self (B, T, D)
  memory_output,       // o_mem (B, T, Dm)
  memory_tokens,       // the tokens that memory attention attends to (B or 1, Tm, Dm)
  token_grid,          // int64 (3): class tokens, height and width of the o that are reported next; only for a grid
  reset_gate,          // r of a gated cache's update (B, Tm, Dm)
  update_gate,         // u of a gated cache's update (B, Tm, Dm)
  statistic,           // a norm's own statistic of the step, before any averaging (C)
  used_statistic,      // the statistic with which it normalised (C)
  gradient_statistic,  // the step's own mean of g·z, from the backward pass (C)
  attention_operands,  // queries (B, H, Lq, d) as they enter an attention function
  attention_keys,      // their keys (B or 1, H, Lk, d), reported after the operands
  attention_bias,      // the bias of their scores, −∞ for hidden keys, reported after the keys:
                       // broadcasts to (B, H, Lq, Lk)
  block_output,        // the output of a transformer block (B, T, D)
  norm1_output,        // reported by a block, all (B, T, D), before its block_output: its first norm's output,
  attention_output,    // the result of self-attention, before it is added,
  cross_norm_output,   // the same norm output of cross attention, if the block has it,
  cross_attention_output,
  norm2_output,         // the output of the norm of the feed-forward half,
  feed_forward_output,  // and the result of that half, before it is added
  token_padding,        // bool (B, T), true = padding: for the tokens of o, of queries, of a block's outputs. Reported
                        // before them; not reported if no token is padding
};

/// A set of signals.
class Signals {
 public:
  constexpr Signals() = default;
  constexpr Signals(std::initializer_list<Signal> of) {
    for (const Signal signal : of) bits_ |= uint32_t{1} << static_cast<int>(signal);
  }
  static constexpr Signals all() {
    Signals every;
    every.bits_ = ~uint32_t{0};
    return every;
  }
  constexpr bool share_any(Signals other) const { return (bits_ & other.bits_) != 0; }

 private:
  uint32_t bits_ = 0;
};

/// A hook that receives values from the modules of a model. Modules do not compute values that it does not request.
class Listener {
 public:
  /// Called with the module's path ("blocks.3.attn"), the signal, and the value (detached).
  using Callback = std::function<void(const std::string& path, Signal signal, const at::Tensor& value)>;
  using Hear [[deprecated("Callback")]] = Callback;

  Listener() = default;
  template <std::convertible_to<Callback> Function>
  requires(!std::same_as<Function, Listener>) Listener(Function hear, Signals wanted = Signals::all())
      : hear_(std::move(hear)), wanted_(wanted) {}

  void operator()(const std::string& path, Signal signal, const at::Tensor& value) const { hear_(path, signal, value); }
  Signals wanted() const { return hear_ ? wanted_ : Signals(); }
  explicit operator bool() const { return static_cast<bool>(hear_); }

 private:
  Callback hear_;
  Signals wanted_;
};

/// A module that reports values to its listener (a hook), if it has one. Without a listener, the cost is one test.
class Observable {
 public:
  Observable() = default;
  /// A copy has no listener.
  Observable(const Observable&) {}
  Observable& operator=(const Observable&) { return *this; }
  virtual ~Observable() = default;
  /// The hook of a module, and the module's name for it.
  struct Subscription {
    std::string path;
    Listener listener;
  };
  using Heard [[deprecated("Subscription")]] = Subscription;
  /// Replaces the module's hook. Returns the former one.
  Subscription listen(Subscription by) { return std::exchange(heard_, std::move(by)); }

 protected:
  /// Whether the listener requests any of these signals.
  bool observed(Signals any) const { return heard_.listener.wanted().share_any(any); }
  void notify(Signal signal, const at::Tensor& value) const;
  [[deprecated("notify")]] void tell(Signal signal, const at::Tensor& value) const { notify(signal, value); }

 private:
  Subscription heard_;
};

/// Attaches a listener to every observable module of a tree for its own lifetime. An earlier listener gets no values
/// during this time. Observations must end in the opposite order of their beginning.
class Observation {
 public:
  Observation(torch::nn::Module& root, const Listener& listener);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

 private:
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, Observable::Subscription>> before_;
};

}  // namespace cachet::nn
