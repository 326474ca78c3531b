#include "cachet/data/order/grouped_batches.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/data/random.h"

namespace cachet::data {

GroupedBatches::GroupedBatches(std::vector<int64_t> groups, GroupedBatchOptions options, Shard shard)
    : BatchOrder(static_cast<int64_t>(groups.size()), options.seed, shard), options_(options) {
  check_batch_size(options.batch_size);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] < 0 || groups[i] >= static_cast<int64_t>(groups.size()))
      throw std::invalid_argument("a sample cannot belong to group " + std::to_string(groups[i]));
    const auto group = static_cast<size_t>(groups[i]);
    if (group >= members_.size()) members_.resize(group + 1);
    members_[group].push_back(static_cast<int64_t>(i));
  }
  for (const auto& members : members_) batches_ += batches_of(static_cast<int64_t>(members.size()));
}

int64_t GroupedBatches::batches_of(int64_t samples) const {
  if (samples == 0) return 0;
  const int64_t whole = samples / options_.batch_size;
  const bool rest = samples % options_.batch_size != 0;
  return whole + (rest && (!options_.drop_last || whole == 0) ? 1 : 0);
}

EpochOrder::WholeBatch GroupedBatches::whole_batches(int64_t epoch) const {
  auto batches = std::make_shared<std::vector<std::vector<PlacedSample>>>();
  const auto key = static_cast<uint64_t>(epoch);
  for (size_t group = 0; group < members_.size(); ++group) {
    const std::vector<int64_t>& members = members_[group];
    const auto count = static_cast<int64_t>(members.size());
    std::vector<int64_t> order;
    if (options_.shuffle) order = permutation(count, {seed(), RandomStream::permutation, key, group + 1});
    const int64_t of_group = batches_of(count);
    for (int64_t b = 0; b < of_group; ++b) {
      const int64_t end = std::min(count, (b + 1) * options_.batch_size);
      std::vector<PlacedSample> batch;
      for (int64_t i = b * options_.batch_size; i < end; ++i)
        batch.push_back({members[static_cast<size_t>(options_.shuffle ? order[static_cast<size_t>(i)] : i)], 0});
      batches->push_back(std::move(batch));
    }
  }
  if (options_.shuffle) {
    const auto order = permutation(batches_, {seed(), RandomStream::permutation, key, 0});
    std::vector<std::vector<PlacedSample>> shuffled;
    for (const int64_t number : order) shuffled.push_back(std::move((*batches)[static_cast<size_t>(number)]));
    *batches = std::move(shuffled);
  }
  return [batches = std::shared_ptr<const std::vector<std::vector<PlacedSample>>>(batches)](int64_t number) {
    return (*batches)[static_cast<size_t>(number)];
  };
}

}  // namespace cachet::data
