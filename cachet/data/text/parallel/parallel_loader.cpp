#include "cachet/data/text/parallel/parallel_loader.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cachet::data {
namespace {

constexpr int64_t kLargestMultiple = 1024;

/// The lengths of a side with a mark, as they are padded.
Lengths marked_lengths(const ParallelCorpus& corpus, ParallelSide side, const PaddingOptions& padding) {
  auto lengths = std::make_shared<std::vector<int64_t>>();
  lengths->reserve(static_cast<size_t>(corpus.size()));
  for (int64_t i = 0; i < corpus.size(); ++i) lengths->push_back(padding.rounded_up(corpus.length(side, i) + 1));
  return lengths;
}

std::shared_ptr<const BatchOrder> budget_order(const ParallelCorpus& corpus, const ParallelLoaderOptions& options,
                                               const TokenBudgetOptions& budget, Shard shard) {
  const std::vector<Lengths> sides{marked_lengths(corpus, ParallelSide::source, options.padding),
                                   marked_lengths(corpus, ParallelSide::target, options.padding)};
  return std::make_shared<TokenBudget>(sides, budget, shard);
}

ParallelBatch make_parallel_batch(const ParallelCorpus& corpus, const PaddingOptions& padding,
                                  const BatchPlace& place) {
  ParallelBatch batch;
  batch.indices = place.indices();
  batch.number = place.number;
  std::vector<std::vector<Token>> sources, inputs, targets;
  for (const int64_t index : batch.indices) {
    sources.push_back(corpus.tokens(ParallelSide::source, index));
    sources.back().push_back(corpus.marks(ParallelSide::source).end);
    std::vector<Token> target = corpus.tokens(ParallelSide::target, index);
    std::vector<Token>& input = inputs.emplace_back();
    input.reserve(target.size() + 1);
    input.push_back(corpus.marks(ParallelSide::target).begin);
    input.insert(input.end(), target.begin(), target.end());
    target.push_back(corpus.marks(ParallelSide::target).end);
    targets.push_back(std::move(target));
  }
  const auto padded = [&](const std::vector<std::vector<Token>>& sentences) {
    return pad({sentences.begin(), sentences.end()}, padding);
  };
  batch.source = padded(sources);
  batch.input = padded(inputs);
  batch.target = padded(targets);
  return batch;
}

BatchLoader<ParallelBatch> parallel_batches(const std::shared_ptr<const ParallelCorpus>& corpus,
                                            std::shared_ptr<const BatchOrder> order, LoaderOptions loader,
                                            const PaddingOptions& padding) {
  if (padding.multiple < 1 || padding.least_length < 1)
    throw std::invalid_argument("sentences must be padded to a multiple of at least 1 and a length of at least 1");
  if (order->samples() != corpus->size())
    throw std::invalid_argument("the order must have one sample for each pair of the corpus");
  return {std::move(order), loader,
          [corpus, padding](const BatchPlace& place) { return make_parallel_batch(*corpus, padding, place); }};
}

}  // namespace

ParallelLoaderOptions read_parallel_loader_options(const config::View& data, int64_t max_length) {
  ParallelLoaderOptions options;
  options.loader = read_loader_options(data);
  options.budget = read_token_budget_options(data);
  options.padding.multiple = data.integer("pad_multiple", options.padding.multiple, {1, kLargestMultiple});
  if (const int64_t longest = options.padding.rounded_up(max_length + 1); longest > options.budget.max_tokens)
    data.problem("max_tokens", "must be at least " + std::to_string(longest) +
                                   ", the length of a sentence of data.max_length tokens with its end token; raise "
                                   "max_tokens, or lower data.max_length");
  return options;
}

std::shared_ptr<const BatchOrder> training_order(const ParallelCorpus& corpus, const ParallelLoaderOptions& options,
                                                 Shard shard) {
  return budget_order(corpus, options, options.budget, shard);
}

std::shared_ptr<const BatchOrder> evaluation_order(const ParallelCorpus& corpus, const ParallelLoaderOptions& options,
                                                   Shard shard) {
  TokenBudgetOptions budget = options.budget;
  budget.shuffle = false;
  return budget_order(corpus, options, budget, shard);
}

ParallelLoader::ParallelLoader(std::shared_ptr<const ParallelCorpus> corpus, std::shared_ptr<const BatchOrder> order,
                               LoaderOptions loader, PaddingOptions padding)
    : corpus_(std::move(corpus)), loader_(parallel_batches(corpus_, std::move(order), loader, padding)) {}

}  // namespace cachet::data
