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
  token_grid,          // int64 (3): class tokens, height and width of the outputs reported next; only with a token grid
  reset_gate,          // r of a gated cache's update (B, Tm, Dm)
  update_gate,         // u of a gated cache's update (B, Tm, Dm)
  statistic,           // a norm's own statistic of the step, before any averaging (C)
  used_statistic,      // the statistic with which the norm normalised (C)
  gradient_statistic,  // the step's own mean of g·z, from the backward pass (C)
  attention_operands,  // queries (B, H, Lq, d) as they enter an attention function
  attention_keys,      // keys of these queries (B or 1, H, Lk, d), reported after the operands
  attention_bias,      // bias of the scores, reported after the keys: −∞ for hidden keys;
                       // the bias broadcasts to (B, H, Lq, Lk)
  block_output,        // the output of a transformer block (B, T, D)
  norm1_output,        // output of a block's first norm (B, T, D); these six signals come before block_output
  attention_output,    // result of self-attention (B, T, D), before the residual addition
  cross_norm_output,   // for cross attention, if a block has it: output of the norm and result (B, T, D)
  cross_attention_output,
  norm2_output,         // output of the norm before the feed-forward network (B, T, D)
  feed_forward_output,  // result of the feed-forward network (B, T, D), before the residual addition
  token_padding,        // bool (B, T), true = padding, for the tokens of o, of queries or of a block's outputs;
                        // if a token is padding, modules report token_padding before the tokens' values
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

/// A hook that receives values from the modules of a model. Modules compute only the values that the hook requests.
class Listener {
 public:
  /// A function that receives the path of a module ("blocks.3.attn"), the signal, and the detached value.
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

/// A module that reports values to a listener (a hook). Without a listener, a report costs one test of a flag.
class Observable {
 public:
  Observable() = default;
  /// A copied module has no listener.
  Observable(const Observable&) {}
  Observable& operator=(const Observable&) { return *this; }
  virtual ~Observable() = default;
  /// The listener of a module, and the module's path in its reports.
  struct Subscription {
    std::string path;
    Listener listener;
  };
  using Heard [[deprecated("Subscription")]] = Subscription;
  /// Replaces the module's listener, and returns the former one.
  Subscription listen(Subscription by) { return std::exchange(heard_, std::move(by)); }

 protected:
  /// Whether the module's listener requests any of the signals `any`.
  bool observed(Signals any) const { return heard_.listener.wanted().share_any(any); }
  void notify(Signal signal, const at::Tensor& value) const;
  [[deprecated("notify")]] void tell(Signal signal, const at::Tensor& value) const { notify(signal, value); }

 private:
  Subscription heard_;
};

/// Attaches a listener to every observable module of a tree during this object's lifetime. While the Observation
/// exists, an earlier listener gets no values. Destroy observations in the reverse order of their creation.
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
