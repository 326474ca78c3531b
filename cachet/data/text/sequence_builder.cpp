#include "cachet/data/text/sequence_builder.h"

#include <utility>

#include "cachet/io/error.h"

namespace cachet::data {

std::vector<Token> fit_sequence(std::vector<Token> tokens, const SequenceRules& rules, SequenceCounts& counts) {
  if (tokens.empty()) throw io::Error("the text is empty; remove it, or set data.empty_texts = \"skip\"");
  const auto most = static_cast<size_t>(rules.max_length);
  if (tokens.size() <= most) return tokens;
  if (rules.too_long == TooLong::refuse) {
    throw io::Error("the sequence has more than data.max_length = " + std::to_string(most) +
                    " tokens, and data.too_long is \"refuse\"");
  }
  tokens.resize(most);
  ++counts.truncated;
  return tokens;
}

std::optional<int64_t> SequenceBuilder::add_sequence(std::vector<Token> tokens) {
  if (tokens.empty() && rules_.empty_texts == EmptyText::skip) return std::nullopt;
  const int64_t cut_before = counts_.truncated;
  const std::vector<Token> fitting = fit_sequence(std::move(tokens), rules_, counts_);
  return store_->add(fitting, counts_.truncated > cut_before);
}

std::shared_ptr<const SequenceDataset> SequenceBuilder::finish(const std::string& name,
                                                               std::vector<std::string> class_names) {
  if (samples_.empty()) throw io::Error(name + ": there are no samples");
  return std::make_shared<SequenceDataset>(std::move(store_), std::move(samples_), vocabulary_, std::move(class_names),
                                           counts_, has_texts_ ? texts_.text() : std::string());
}

}  // namespace cachet::data
