#include "cachet/data/order/equal_batches.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/data/random.h"

namespace cachet::data {

int64_t EqualCut::batches() const { return samples / batch_size + (!drop_last && samples % batch_size != 0 ? 1 : 0); }

int64_t EqualCut::count(int64_t number) const { return std::min(batch_size, samples - first(number)); }

EpochOrder::WholeBatch EqualCut::whole_batches(std::shared_ptr<const std::vector<int64_t>> order,
                                               int64_t repeats) const {
  return [cut = *this, repeats, order = std::move(order)](int64_t number) {
    std::vector<PlacedSample> batch(static_cast<size_t>(cut.count(number)));
    int64_t position = cut.first(number);
    for (PlacedSample& sample : batch) {
      const int64_t visited = position / repeats;
      sample = {order ? (*order)[static_cast<size_t>(visited)] : visited, position % repeats};
      ++position;
    }
    return batch;
  };
}

void check_repeats(int64_t repeats) {
  if (repeats < 1)
    throw std::invalid_argument("a sample is repeated " + std::to_string(repeats) +
                                " times; the number must be at least 1");
}

EqualBatches::EqualBatches(int64_t samples, EqualBatchOptions options, Shard shard)
    : BatchOrder(samples, options.seed, shard),
      cut_{samples, options.batch_size, options.drop_last},
      shuffle_(options.shuffle),
      repeats_(options.repeats) {
  check_batch_size(options.batch_size);
  check_repeats(options.repeats);
}

EpochOrder::WholeBatch EqualBatches::whole_batches(int64_t epoch) const {
  std::shared_ptr<const std::vector<int64_t>> shuffled;
  if (shuffle_)
    shuffled = std::make_shared<std::vector<int64_t>>(
        permutation(samples(), {seed(), RandomStream::permutation, static_cast<uint64_t>(epoch), 0}));
  return cut_.whole_batches(std::move(shuffled), repeats_);
}

}  // namespace cachet::data
