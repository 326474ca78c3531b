#include "cachet/data/order/batch_order.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace cachet::data {

std::vector<int64_t> BatchPlace::indices() const {
  std::vector<int64_t> indices;
  indices.reserve(samples.size());
  for (const PlacedSample& sample : samples) indices.push_back(sample.index);
  return indices;
}

EpochOrder::EpochOrder(int64_t epoch, int64_t batches, Shard shard, WholeBatch whole_batch)
    : epoch_(epoch), batches_(batches), shard_(shard), whole_batch_(std::move(whole_batch)) {}

BatchPlace EpochOrder::place(int64_t number) const {
  if (number < 0 || number >= batches())
    throw std::out_of_range("there is no batch " + std::to_string(number) + "; the number of batches in an epoch is " +
                            std::to_string(batches()));
  const int64_t of_epoch = number / shard_.parts;
  std::vector<PlacedSample> whole = whole_batch_(of_epoch);
  const Shard own = shard_.alone(number % shard_.parts);
  if (own.world_size == 1) return {std::move(whole), epoch_, of_epoch};
  BatchPlace part{{}, epoch_, of_epoch};
  const auto stride = static_cast<size_t>(own.world_size);
  for (auto i = static_cast<size_t>(own.rank); i < whole.size(); i += stride) part.samples.push_back(whole[i]);
  return part;
}

BatchOrder::BatchOrder(int64_t samples, uint64_t seed, Shard shard) : samples_(samples), seed_(seed), shard_(shard) {
  if (samples < 0) throw std::invalid_argument("a data set cannot have " + std::to_string(samples) + " samples");
  if (shard.rank < 0 || shard.rank >= shard.world_size)
    throw std::invalid_argument("there is no process " + std::to_string(shard.rank) + " of " +
                                std::to_string(shard.world_size));
  if (shard.parts < 1) throw std::invalid_argument("a process must have at least one part of each batch");
}

void BatchOrder::check_batch_size(int64_t batch_size) const {
  if (batch_size < 1)
    throw std::invalid_argument("the batch size is " + std::to_string(batch_size) + "; it must be at least 1");
  if (batch_size < shard_.all_parts())
    throw std::invalid_argument(
        "the batch size is " + std::to_string(batch_size) + "; each batch needs a sample for each of the " +
        std::to_string(shard_.all_parts()) +
        (shard_.parts == 1 ? " processes; raise the batch size" : " parts of a batch; raise the batch size"));
}

EpochOrder BatchOrder::epoch(int64_t epoch) const { return {epoch, batches(), shard_, whole_batches(epoch)}; }

}  // namespace cachet::data
