#include "cachet/data/order/length_buckets.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "cachet/data/random.h"

namespace cachet::data {
namespace {

int64_t count_of(const Lengths& lengths) {
  if (lengths == nullptr) throw std::invalid_argument("buckets need the length of each sample");
  return static_cast<int64_t>(lengths->size());
}

}  // namespace

LengthBuckets::LengthBuckets(Lengths lengths, EqualBatchOptions options, int64_t bucket_batches, Shard shard)
    : BatchOrder(count_of(lengths), options.seed, shard),
      lengths_(std::move(lengths)),
      cut_{samples(), options.batch_size, options.drop_last},
      shuffle_(options.shuffle),
      bucket_batches_(bucket_batches) {
  check_batch_size(options.batch_size);
  if (bucket_batches < 1) throw std::invalid_argument("a bucket cannot hold fewer than 1 batch");
  if (options.repeats != 1) throw std::invalid_argument("batches from length buckets cannot repeat samples");
}

EpochOrder::WholeBatch LengthBuckets::whole_batches(int64_t epoch) const {
  return [cut = cut_, order = std::make_shared<const std::vector<int64_t>>(visited(epoch))](int64_t number) {
    std::vector<PlacedSample> batch(static_cast<size_t>(cut.count(number)));
    auto index = order->begin() + cut.first(number);
    for (PlacedSample& sample : batch) sample.index = *index++;
    return batch;
  };
}

std::vector<int64_t> LengthBuckets::visited(int64_t epoch) const {
  const auto by_length = [&](int64_t i) { return (*lengths_)[static_cast<size_t>(i)]; };
  const auto random = [&](RandomStream stream) {
    return CounterRandom(seed(), stream, static_cast<uint64_t>(epoch), 0);
  };
  std::vector<int64_t> order(static_cast<size_t>(samples()));
  std::iota(order.begin(), order.end(), 0);
  if (!shuffle_) {
    std::ranges::stable_sort(order, {}, by_length);
    return order;
  }
  order = permutation(samples(), random(RandomStream::permutation));
  // Samples that fill whole batches; the rest were drawn to be the last batch.
  const int64_t whole = samples() / cut_.batch_size;
  const auto place = [&](int64_t batch) { return order.begin() + cut_.first(batch); };
  for (int64_t first = 0; first < whole; first += bucket_batches_) {
    const int64_t end = whole - first > bucket_batches_ ? first + bucket_batches_ : whole;
    std::ranges::stable_sort(place(first), place(end), {}, by_length);
    if (end == whole) break;
  }
  const std::vector<int64_t> sorted = order;
  auto out = order.begin();
  for (const int64_t batch : permutation(whole, random(RandomStream::buckets)))
    out = std::copy_n(sorted.begin() + cut_.first(batch), cut_.batch_size, out);
  return order;
}

}  // namespace cachet::data
