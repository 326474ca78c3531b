#pragma once

#include <string>

#include "cachet/nn/attention/attention_state.h"
#include "cachet/nn/base/observer.h"
#include "cachet/nn/base/state_module.h"
#include "cachet/nn/layout.h"
#include "cachet/nn/plug_in.h"

namespace cachet::nn {

/// Returns advice on causal attention: "use softmax, elu, kernel, local, or performer with features = …".
std::string causal_forms();

/// Computes attention of queries to keys and values, head by head. An attention function may own feature maps or
/// hashes, but has no projections.
class AttentionFunction : public StateModule, public Observable, public PlugIn {
 public:
  using StateModule::StateModule;

  /// q (B, H, Lq, d), k (B, H, Lk, d), v (B, H, Lk, e); k and v may have batch size 1, for all samples. Returns (B, H,
  /// Lq, e). Queries do not attend to padded keys. The results of padded queries are undefined.
  torch::Tensor forward(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                        const AttentionArgs& args) {
    if (observed({Signal::attention_operands, Signal::attention_keys, Signal::attention_bias}))
      tell_operands(q, k, args);
    return attend(q, k, v, args);
  }

  /// Whether a decoding session of the attention function has a state of its own, instead of the keys and values of all
  /// earlier calls. declare_state() declares this state before the first call, and attend() replaces its value.
  virtual bool keeps_state() const { return false; }
  virtual void declare_state(AttentionState& /*state*/, const torch::TensorOptions& /*options*/) const {}

  /// Whether the result of a query is independent of all other queries. The result of a query depends on other queries
  /// if a function chooses keys by the number of queries, or scales features by the largest value of several queries.
  virtual bool queries_stand_alone() const { return false; }

  /// Whether the function chooses the keys of a query by the values of queries and keys (example: a hash). If queries
  /// and keys are rounded to bfloat16, a query may get other keys, and its result may change by any amount.
  virtual bool chooses_keys_by_value() const { return false; }

  /// refuse_bias() throws c10::Error if args has a bias, refuse_causal() if args is causal. `name` begins the message.
  static void refuse_bias(const char* name, const AttentionArgs& args);
  static void refuse_causal(const char* name, const AttentionArgs& args);

 protected:
  virtual torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                               const AttentionArgs& args) = 0;

 private:
  void tell_operands(const torch::Tensor& q, const torch::Tensor& k, const AttentionArgs& args) const;
};

}  // namespace cachet::nn
