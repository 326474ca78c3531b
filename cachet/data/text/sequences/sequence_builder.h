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

/// Rules for the treatment of sequences that are too long or empty.
struct SequenceRules {
  int64_t max_length = 2000;
  TooLong too_long = TooLong::truncate;
  EmptyText empty_texts = EmptyText::refuse;
  bool keep_origins = false;  // whether to store SequenceOrigins
};

/// Applies `rules` to a sequence. If the sequence is too long, cuts it and counts the cut. Throws io::Error, whose
/// message names the fault but not the position in the file, if the sequence is empty, or if it is too long and the
/// rules forbid this.
std::vector<Token> fit_sequence(std::vector<Token> tokens, const SequenceRules& rules, SequenceCounts& counts);

/// Collects the samples of a data set and applies the rules for sequences.
class SequenceBuilder {
 public:
  SequenceBuilder(const Vocabulary& vocabulary, const SequenceRules& rules)
      : vocabulary_(vocabulary), rules_(rules), store_(std::make_shared<TokenStore>(vocabulary.size)) {}

  /// Adds a sequence and returns its number, or std::nullopt if it is empty and empty samples are skipped. If
  /// keep_origins is set, stores `text_key` as the key of the sequence's text (SequenceOrigins). Throws io::Error,
  /// whose message names the fault but not the position in the file.
  std::optional<int64_t> add_sequence(std::vector<Token> tokens, std::string text_key = {});
  void add_sample(const SequenceSample& sample) { samples_.push_back(sample); }
  void skip_sample() { ++counts_.skipped; }
  /// Stores the number and the kind of files that the reader ignored (SequenceCounts::passed_over).
  void pass_over(const PassedOver& files) { counts_.passed_over = files; }
  void count_replaced(int64_t bytes) { counts_.replaced += bytes; }
  /// Adds a text, from which the reader makes sequences, to the digest of the data set. Call add_text() for every text
  /// from which sequences are made.
  void add_text(std::string_view text) {
    texts_.add(text);
    has_texts_ = true;
  }

  /// Makes the data set. `origins` serves to name samples. If the data set is empty, throws io::Error "<name>: there
  /// are no samples".
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

/// Returns the key that add_sequence() needs for a text.
std::string text_key(std::string_view text, const SequenceRules& rules);

}  // namespace cachet::data
