#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/order/length_buckets.h"

namespace cachet::data {

struct TokenBudgetOptions {
  int64_t max_tokens = 4096;  // of a batch of all shards, padding included, on the side that has more
  int64_t max_samples = 0;    // of a batch; 0 = as many as fit
  bool shuffle = true;        // false: from the shortest batch to the longest
  uint64_t seed = 0;
};

/// Reads max_tokens and max_samples.
TokenBudgetOptions read_token_budget_options(const config::View& view);

/// Batches of a number of tokens: as many samples of like lengths as stay, when they are padded to the longest of them,
/// within max_tokens on each side. Samples have one side, or two (a sentence and its translation).
///
/// The batches are cut once for all epochs, by the seed alone: samples of equal lengths are in a random order before
/// they are cut. So every epoch has as many batches; an epoch shuffles which batch comes when. All samples are in each
/// epoch.
class TokenBudget final : public BatchOrder {
 public:
  /// `sides` are one or two, each with the length of every sample as it is padded. Throws std::invalid_argument for
  /// sides of unequal sizes, for options below 0, and for a sample whose length is below 1 or above max_tokens: it is
  /// named.
  TokenBudget(const std::vector<Lengths>& sides, TokenBudgetOptions options, Shard shard = {});

  int64_t batches() const override { return static_cast<int64_t>(cut_->starts.size()) - 1; }

 private:
  struct Cut {
    std::vector<int64_t> samples;    // batch after batch
    std::vector<int64_t> starts{0};  // of each batch, and the end of the last
  };

  EpochOrder::WholeBatch whole_batches(int64_t epoch) const override;

  std::shared_ptr<const Cut> cut_;
  bool shuffle_;
};

}  // namespace cachet::data
