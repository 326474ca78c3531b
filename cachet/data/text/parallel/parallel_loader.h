#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachet/data/loader.h"
#include "cachet/data/order/token_budget.h"
#include "cachet/data/text/parallel/parallel_corpus.h"
#include "cachet/data/text/sequences/sequence_loader.h"

namespace cachet::data {

/// A batch of sentences and their translations. The sources and the translations of a batch are padded separately, each
/// side to its own length.
struct ParallelBatch {
  PaddedTokens source;           // (B, S): each sentence, then its end
  PaddedTokens input;            // (B, T): input of the decoder: the begin token, then the translation
  PaddedTokens target;           // (B, T): the tokens to predict: the translation, then its end; padded as the input
  std::vector<int64_t> indices;  // indices of the pairs in the corpus
  int64_t number = 0;            // number of the batch in the epoch
};

struct ParallelLoaderOptions {
  LoaderOptions loader{};
  TokenBudgetOptions budget{};  // counts tokens with their begin or end
  PaddingOptions padding{};
};

/// Reads the keys workers, prefetch, max_tokens, max_samples and pad_multiple. `max_length` is the greatest length of a
/// pair; a batch must have room for such a pair.
ParallelLoaderOptions read_parallel_loader_options(const config::View& data, int64_t max_length);

/// Makes batches of pairs of similar lengths, with at most max_tokens tokens on each side. The order of the batches
/// differs between epochs. Throws std::invalid_argument for arguments that TokenBudget does not accept.
std::shared_ptr<const BatchOrder> training_order(const ParallelCorpus& corpus, const ParallelLoaderOptions& options,
                                                 Shard shard = {});
/// Orders all pairs once, from the shortest to the longest. Indices are pair numbers. Throws like training_order().
std::shared_ptr<const BatchOrder> evaluation_order(const ParallelCorpus& corpus, const ParallelLoaderOptions& options,
                                                   Shard shard = {});

class ParallelLoader {
 public:
  /// The model must outlive the PartStates object and keep its device.
  ParallelLoader(std::shared_ptr<const ParallelCorpus> corpus, std::shared_ptr<const BatchOrder> order,
                 LoaderOptions loader = {}, PaddingOptions padding = {});

  const ParallelCorpus& corpus() const { return *corpus_; }
  int64_t batches() const { return loader_.batches(); }  // number of batches of one epoch
  const BatchOrder& order() const { return loader_.order(); }
  /// Iterates over the batches of an epoch, from `first_batch` on; see BatchLoader::iterate().
  BatchIterator<ParallelBatch> iterate(int64_t epoch, int64_t first_batch = 0) const {
    return loader_.iterate(epoch, first_batch);
  }
  /// Returns the samples of batch `number` of an epoch (BatchLoader::place).
  BatchPlace place(int64_t epoch, int64_t number) const { return loader_.place(epoch, number); }

 private:
  std::shared_ptr<const ParallelCorpus> corpus_;
  BatchLoader<ParallelBatch> loader_;
};

}  // namespace cachet::data
