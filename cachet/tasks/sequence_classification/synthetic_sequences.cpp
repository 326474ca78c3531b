#include "cachet/tasks/sequence_classification/synthetic_sequences.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cachet/data/random.h"

namespace cachet::tasks {

std::shared_ptr<const data::SequenceDataset> synthetic_sequences(const models::SequenceClassifierPlan& model,
                                                                 int64_t count) {
  const models::SequenceShape& shape = model.sequence;
  auto store = std::make_shared<data::TokenStore>(std::min(shape.vocabulary, data::kMaxTokens));
  const auto add = [&](int64_t number) {
    data::CounterRandom random(0, data::RandomStream::noise, 0, static_cast<uint64_t>(store->size()));
    std::vector<data::Token> tokens(static_cast<size_t>(std::max<int64_t>(1, shape.max_length >> (number % 2))));
    const int64_t ids = std::min(shape.vocabulary, data::kMaxTokens);
    for (data::Token& token : tokens) token = static_cast<data::Token>(random.below(static_cast<uint64_t>(ids)));
    return store->add(tokens);
  };
  std::vector<data::SequenceSample> samples;
  for (int64_t i = 0; i < count; ++i) samples.push_back({add(i), shape.pairs ? add(i + 1) : -1, i % model.classes});
  std::vector<std::string> names;
  for (int64_t label = 0; label < model.classes; ++label) names.push_back(std::to_string(label));
  return std::make_shared<data::SequenceDataset>(
      store, std::move(samples), data::Vocabulary{std::min(shape.vocabulary, data::kMaxTokens), ""}, std::move(names));
}

}  // namespace cachet::tasks
