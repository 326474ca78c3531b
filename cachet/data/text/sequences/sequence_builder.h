#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/data/text/sequences/sequence_dataset.h"
#include "cachet/data/text/sequences/sequence_options.h"

namespace cachet::data {

/// What readers do with sequences that are too long or empty.
struct SequenceRules {
  int64_t max_length = 2000;
  TooLong too_long = TooLong::truncate;
  EmptyText empty_texts = EmptyText::refuse;
  bool keep_origins = false;  // SequenceOrigins
};

/// A sequence as the rules leave it: cut and counted if it is too long. Throws io::Error with the fault but without the
/// position: it is empty, or too long and that is refused.
std::vector<Token> fit_sequence(std::vector<Token> tokens, const SequenceRules& rules, SequenceCounts& counts);

/// Collects the samples of a data set by these rules.
class SequenceBuilder {
 public:
  SequenceBuilder(const Vocabulary& vocabulary, const SequenceRules& rules)
      : vocabulary_(vocabulary), rules_(rules), store_(std::make_shared<TokenStore>(vocabulary.size)) {}

  /// The number of the sequence; nothing if it is empty and such samples are skipped. `text_key`: of a text, if origins
  /// are stored. Throws io::Error with the fault but without the position.
  std::optional<int64_t> add_sequence(std::vector<Token> tokens, std::string text_key = {});
  void add_sample(const SequenceSample& sample) { samples_.push_back(sample); }
  void skip_sample() { ++counts_.skipped; }
  /// The files that were passed over among those that were read.
  void pass_over(const PassedOver& files) { counts_.passed_over = files; }
  void count_replaced(int64_t bytes) { counts_.replaced += bytes; }
  /// Of what a reader makes sequences of, all of it: the data set's digest has it.
  void add_text(std::string_view text) {
    texts_.add(text);
    has_texts_ = true;
  }

  /// `origins`: how samples are called. Throws io::Error "<name>: there are no samples" where that is so.
  std::shared_ptr<const SequenceDataset> finish(const std::string& name, std::vector<std::string> class_names,
                                                SequenceOrigins origins);

 private:
  Vocabulary vocabulary_;
  SequenceRules rules_;
  std::shared_ptr<TokenStore> store_;
  std::vector<SequenceSample> samples_;
  SequenceCounts counts_;
  Fingerprint texts_;
  bool has_texts_ = false;
  std::vector<std::string> keys_;
};

/// The key of a text for add_sequence().
std::string text_key(std::string_view text, const SequenceRules& rules);

}  // namespace cachet::data
