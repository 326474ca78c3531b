#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_function_kind.h"
#include "cachet/nn/attention/functions/pattern_length.h"
#include "cachet/nn/base/memoized.h"

namespace cachet::nn {

/// Softmax attention to the keys around a query's position.
struct LocalOptions {
  int64_t window = 128;  // largest distance between a query and a key, in tokens
  PatternLength pattern_length = PatternLength::model;

  static const AttentionFunctionKind<LocalOptions> kKind;
};

/// Softmax attention to the keys around a query's position (Longformer, arXiv 2004.05150, Sec. 3.1). Time and memory
/// are linear in the length. Query i of Lq has position p = ⌊i·Lk/Lq⌋ and sees key j iff |j − p| ≤ window. If
/// pattern_length is `model`, Lq and Lk are the maximum lengths of the model; if it is `batch`, they are the padded
/// lengths of the batch. In a causal layout, query i has position p = i + Lk − Lq and sees the keys j with
/// p − window ≤ j ≤ p, and pattern_length has no effect.
///
/// Leading class tokens see all keys, and all queries see the class tokens. The first token after the class tokens is
/// at position 0. In a causal layout, class tokens are treated like all other tokens. Padded keys are masked. Throws
/// c10::Error for a bias.
class LocalAttention : public Cloneable<LocalAttention, AttentionFunction> {
 public:
  explicit LocalAttention(const LocalOptions& options);

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionArgs& args) override;

 private:
  struct Lengths {
    int64_t queries, keys, class_queries, class_keys;
    int64_t full_queries, full_keys;  // Lq and Lk, which scale the positions
    bool causal;
    bool operator==(const Lengths&) const = default;
    int64_t place(int64_t query) const;
  };
  /// The index tensors for one length of the queries and one length of the keys.
  struct Bands {
    Lengths lengths;
    torch::Tensor query_positions, key_positions, blocks;
  };
  Bands bands(const Lengths& lengths, const torch::Device& device) const;

  int64_t window_, block_size_;
  PatternLength pattern_length_;
  Memoized<Bands> bands_;
};

}  // namespace cachet::nn
