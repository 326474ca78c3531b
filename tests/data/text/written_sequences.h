#pragma once

#include <memory>
#include <vector>

#include "cachet/data/random.h"
#include "cachet/data/text/sequences/sequence_dataset.h"

namespace cachet::test {

/// Sequences of 1 … `longest` tokens in three classes; sample i's tokens all are 1 + i % 90, so that batches tell which
/// samples they hold. The second sequences of pairs are one token longer.
inline std::shared_ptr<const data::SequenceDataset> synthetic_sequences(int64_t size, int64_t longest, bool pairs) {
  auto store = std::make_shared<data::TokenStore>(100);
  std::vector<data::SequenceSample> samples;
  data::CounterRandom random(7, data::RandomStream::noise, 0, 0);
  for (int64_t i = 0; i < size; ++i) {
    const auto length = 1 + random.below(static_cast<uint64_t>(longest));
    const auto token = static_cast<data::Token>(1 + i % 90);
    data::SequenceSample sample{.tokens = store->add(std::vector<data::Token>(length, token)), .label = i % 3};
    if (pairs) sample.second = store->add(std::vector<data::Token>(length + 1, token));
    samples.push_back(sample);
  }
  return std::make_shared<data::SequenceDataset>(store, samples, data::Vocabulary{100, "made up"},
                                                 std::vector<std::string>{"a", "b", "c"});
}

}  // namespace cachet::test
