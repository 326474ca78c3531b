#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/order/length_buckets.h"

namespace cachet::data {

struct TokenBudgetOptions {
  int64_t max_tokens = 4096;  // tokens of a batch of all shards, with padding, on the side with more tokens
  int64_t max_samples = 0;    // largest number of samples in a batch; 0 = as many as fit
  bool shuffle = true;        // whether to shuffle the batches; false: from the shortest batch to the longest
  uint64_t seed = 0;
};

/// Reads the keys max_tokens and max_samples.
TokenBudgetOptions read_token_budget_options(const config::View& view);

/// Batches with a limited number of tokens. A batch has as many samples of similar lengths as fit into max_tokens
/// tokens on each side. All samples of a batch are padded to the longest sample. A sample has one side (a sequence) or
/// two sides (a sentence and its translation).
///
/// The batches are cut once for all epochs; the cut depends only on the seed. Before the batches are cut, samples of
/// equal lengths are put in a random order. Every epoch has the same number of batches and contains all samples,
/// because the batches are cut only once. Between epochs, only the order of the batches changes.
class TokenBudget final : public BatchOrder {
 public:
  /// `sides` has one or two lists with the padded length of every sample. Throws std::invalid_argument for two lists of
  /// unequal sizes, for negative options, and for a sample whose length is below 1 or above max_tokens. If the length
  /// of a sample is out of range, the message names the sample.
  TokenBudget(const std::vector<Lengths>& sides, TokenBudgetOptions options, Shard shard = {});

  int64_t batches() const override { return static_cast<int64_t>(cut_->starts.size()) - 1; }

 private:
  struct Cut {
    std::vector<int64_t> samples;    // indices of the samples, batch after batch
    std::vector<int64_t> starts{0};  // start of each batch in `samples`, and the end of the last batch
  };

  EpochOrder::WholeBatch whole_batches(int64_t epoch) const override;

  std::shared_ptr<const Cut> cut_;
  bool shuffle_;
};

}  // namespace cachet::data
