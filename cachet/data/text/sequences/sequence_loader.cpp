#include "cachet/data/text/sequences/sequence_loader.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace cachet::data {
namespace {

enum class PadTo { longest, max_length };
constexpr std::array<config::Choice<PadTo>, 2> kPadTo{{{"longest", PadTo::longest}, {"max_length", PadTo::max_length}}};

constexpr int64_t kLongestMultiple = 65'536;

SequenceBatch make_sequence_batch(const SequenceDataset& dataset, const PaddingOptions& padding,
                                  const BatchPlace& place) {
  SequenceBatch batch;
  std::vector<TokenView> tokens, second;
  std::vector<int64_t> labels;
  batch.indices = place.indices();
  for (const int64_t index : batch.indices) {
    tokens.push_back(dataset.tokens(index));
    if (dataset.has_pairs()) second.push_back(dataset.second(index));
    labels.push_back(dataset.label(index));
  }
  batch.tokens = pad(tokens, padding);
  if (dataset.has_pairs()) batch.second = pad(second, padding);
  batch.labels = at::tensor(labels, at::kLong);
  batch.number = place.number;
  return batch;
}

void check_padding(const PaddingOptions& options) {
  if (options.multiple < 1 || options.least_length < 1)
    throw std::invalid_argument("sequences must be padded to a multiple of at least 1 and a length of at least 1");
}

size_t padded_length(size_t longest, const PaddingOptions& options) {
  return static_cast<size_t>(options.rounded_up(std::max(static_cast<int64_t>(longest), options.least_length)));
}

BatchLoader<SequenceBatch> sequence_batches(const std::shared_ptr<const SequenceDataset>& dataset,
                                            std::shared_ptr<const BatchOrder> order, LoaderOptions loader,
                                            const PaddingOptions& padding) {
  check_padding(padding);
  if (order->samples() != dataset->size())
    throw std::invalid_argument("the order must have as many samples as the data set");
  return {std::move(order), loader,
          [dataset, padding](const BatchPlace& place) { return make_sequence_batch(*dataset, padding, place); }};
}

}  // namespace

SequenceLoaderOptions read_sequence_loader_options(const config::View& view, int64_t max_length) {
  SequenceLoaderOptions options;
  options.loader = read_loader_options(view);
  options.bucket_batches = view.integer("bucket_batches", options.bucket_batches, {.least = 0});
  if (view.choice("pad_to", PadTo::longest, kPadTo) == PadTo::max_length) options.padding.least_length = max_length;
  options.padding.multiple = view.integer("pad_multiple", options.padding.multiple, {1, kLongestMultiple});
  return options;
}

PaddedTokens pad(const std::vector<TokenView>& sequences, const PaddingOptions& options) {
  size_t longest = 0;
  for (const auto& sequence : sequences) longest = std::max(longest, sequence.size());
  const size_t length = padded_length(longest, options);

  const auto count = static_cast<int64_t>(sequences.size());
  PaddedTokens padded{at::empty({count, static_cast<int64_t>(length)}, at::kLong), {}};
  auto* out = padded.ids.mutable_data_ptr<int64_t>();
  for (const auto& sequence : sequences) {
    out = sequence.copy_to(out);
    out = std::fill_n(out, length - sequence.size(), kPaddingToken);
  }
  if (std::ranges::all_of(sequences, [&](const auto& s) { return s.size() == length; })) return padded;
  padded.padding = at::empty(padded.ids.sizes(), at::kBool);
  auto* mask = padded.padding.mutable_data_ptr<bool>();
  for (const auto& sequence : sequences) {
    mask = std::fill_n(mask, sequence.size(), false);
    mask = std::fill_n(mask, length - sequence.size(), true);
  }
  return padded;
}

std::shared_ptr<const BatchOrder> sequence_order(const SequenceDataset& dataset, const EqualBatchOptions& options,
                                                 int64_t bucket_batches, Shard shard) {
  if (bucket_batches == 0) return std::make_shared<EqualBatches>(dataset.size(), options, shard);
  auto lengths = std::make_shared<std::vector<int64_t>>();
  for (int64_t i = 0; i < dataset.size(); ++i) lengths->push_back(dataset.length(i));
  return std::make_shared<LengthBuckets>(std::move(lengths), options, bucket_batches, shard);
}

std::vector<Lengths> padded_lengths(const SequenceDataset& dataset, const PaddingOptions& options) {
  check_padding(options);
  const auto of = [&](auto sequence_of) {
    auto lengths = std::make_shared<std::vector<int64_t>>();
    for (int64_t i = 0; i < dataset.size(); ++i)
      lengths->push_back(static_cast<int64_t>(padded_length(sequence_of(i).size(), options)));
    return lengths;
  };
  std::vector<Lengths> sides{of([&](int64_t i) { return dataset.tokens(i); })};
  if (dataset.has_pairs()) sides.push_back(of([&](int64_t i) { return dataset.second(i); }));
  return sides;
}

SequenceLoader::SequenceLoader(std::shared_ptr<const SequenceDataset> dataset, std::shared_ptr<const BatchOrder> order,
                               LoaderOptions loader, PaddingOptions padding)
    : dataset_(std::move(dataset)), loader_(sequence_batches(dataset_, std::move(order), loader, padding)) {}

}  // namespace cachet::data
