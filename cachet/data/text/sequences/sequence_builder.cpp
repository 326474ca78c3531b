#include "cachet/data/text/sequences/sequence_builder.h"

#include <span>
#include <utility>

#include "cachet/data/data_digest.h"
#include "cachet/data/text/split_key.h"
#include "cachet/io/error.h"

namespace cachet::data {

std::vector<Token> fit_sequence(std::vector<Token> tokens, const SequenceRules& rules, SequenceCounts& counts) {
  if (tokens.empty()) throw io::Error("the text is empty; remove it, or set data.empty_texts = \"skip\"");
  const auto most = static_cast<size_t>(rules.max_length);
  if (tokens.size() <= most) return tokens;
  if (rules.too_long == TooLong::refuse) {
    throw io::Error("the sequence has more than data.max_length = " + std::to_string(most) +
                    " tokens, which data.too_long = \"refuse\" does not allow");
  }
  tokens.resize(most);
  ++counts.truncated;
  return tokens;
}

std::string text_key(std::string_view text, const SequenceRules& rules) {
  if (!rules.keep_origins) return {};
  const std::string key = split_key(text);
  return key.empty() ? key : digest_of(key);
}

std::optional<int64_t> SequenceBuilder::add_sequence(std::vector<Token> tokens, std::string text_key) {
  if (tokens.empty() && rules_.empty_texts == EmptyText::skip) return std::nullopt;
  if (rules_.keep_origins && !has_texts_) text_key = digest_of(std::as_bytes(std::span(tokens)));
  const int64_t cut_before = counts_.truncated;
  const std::vector<Token> fitting = fit_sequence(std::move(tokens), rules_, counts_);
  const int64_t number = store_->add(fitting, counts_.truncated > cut_before);
  if (rules_.keep_origins) keys_.push_back(std::move(text_key));
  return number;
}

std::shared_ptr<const SequenceDataset> SequenceBuilder::finish(const std::string& name,
                                                               std::vector<std::string> class_names,
                                                               SequenceOrigins origins) {
  if (samples_.empty()) throw io::Error(name + ": there are no samples");
  auto dataset =
      std::make_shared<SequenceDataset>(std::move(store_), std::move(samples_), vocabulary_, std::move(class_names),
                                        counts_, has_texts_ ? texts_.text() : std::string());
  if (rules_.keep_origins) {
    origins.keys = std::move(keys_);
    dataset->set_origins(std::make_shared<const SequenceOrigins>(std::move(origins)));
  }
  return dataset;
}

}  // namespace cachet::data
