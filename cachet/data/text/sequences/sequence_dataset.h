#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/data/data_digest.h"
#include "cachet/data/fingerprint.h"
#include "cachet/data/folder_walk.h"
#include "cachet/data/text/encoders/vocabulary.h"
#include "cachet/data/text/sequences/token_store.h"

namespace cachet::data {

/// What was done to samples by rule while they were read.
struct SequenceCounts {
  int64_t truncated = 0;                    // sequences cut to max_length
  int64_t skipped = 0;                      // samples left out because a text of theirs is empty
  int64_t replaced = 0;                     // bytes that were not UTF-8, replaced by U+FFFD for subwords
  std::optional<PassedOver> passed_over{};  // of kinds that read all files of a folder
};

/// One sample: which sequences of a store, and its class.
struct SequenceSample {
  int64_t tokens = 0, second = -1;  // numbers of the store; second is −1 if samples are not pairs
  int64_t label = 0;
  int64_t place = 0;  // where it was read: the number of a line, from 1, of an image or of a file, from 0
};

/// The sources of the sequences, stored if splits are compared.
struct SequenceOrigins {
  std::string before_place{};        // a sample's name is this and its index: "basic_val.tsv:", "image "
  std::vector<std::string> files{};  // the file of each index, if every sample is a file
  /// Of each sequence, by which splits are compared: a digest of the split_key() of its text, empty of a text of
  /// blanks; of all tokens if no texts were read.
  std::vector<std::string> keys{};
};

/// Labelled sequences of token ids, or pairs of them, in memory. A sequence that many samples share lies there once.
/// All members may be called from several threads at once.
class SequenceDataset {
 public:
  /// Throws std::invalid_argument for a label that is not a class, a sequence that is empty or not in the store, and if
  /// only some samples are pairs.
  SequenceDataset(std::shared_ptr<const TokenStore> store, std::vector<SequenceSample> samples, Vocabulary vocabulary,
                  std::vector<std::string> class_names, SequenceCounts counts = {}, std::string text_digest = {});

  int64_t size() const { return static_cast<int64_t>(samples_.size()); }
  bool has_pairs() const { return !samples_.empty() && samples_.front().second >= 0; }
  const std::vector<std::string>& class_names() const { return class_names_; }
  int64_t classes() const { return static_cast<int64_t>(class_names_.size()); }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const SequenceCounts& counts() const { return counts_; }

  /// One or more ids, each below vocabulary().size.
  TokenView tokens(int64_t index) const { return (*store_)[sample(index).tokens]; }
  /// The second sequence of a pair; empty if samples are not pairs.
  TokenView second(int64_t index) const;
  int64_t label(int64_t index) const { return sample(index).label; }
  /// How many tokens the sample has; a pair counts as its longer sequence.
  int64_t length(int64_t index) const;
  /// Whether what was read of the sample, or of a side of it, was longer than max_length.
  bool is_cut(int64_t index) const;

  DataDigest digest() const;
  std::string sample_digest(int64_t index) const;  // of its tokens and its class
  std::string fingerprint() const;                 // as version 0.1.0 made it

  /// The same samples with classes of another list: class i becomes class `to[i]` of `class_names`. Sequences are
  /// shared.
  std::shared_ptr<const SequenceDataset> with_classes(const std::vector<int64_t>& to,
                                                      std::vector<std::string> class_names) const;

  /// Keys by which splits are compared, of the sample or of both sides of a pair (SequenceOrigins::keys). Throws
  /// std::logic_error unless origins were stored.
  std::vector<std::string> split_keys(int64_t index) const;
  /// How a message calls the sample: its file, or the file and the line. Throws as split_keys() does.
  std::string sample_name(int64_t index) const;
  void set_origins(std::shared_ptr<const SequenceOrigins> origins) { origins_ = std::move(origins); }

  /// The samples of these indices, in this order; the sequences are shared. counts() has the cut samples of these, and
  /// the skipped and replaced ones of all that were read.
  /// If a limit chose the indices, `split_size` is the size of their split.
  std::shared_ptr<const SequenceDataset> subset(const std::vector<int64_t>& indices, int64_t split_size = 0) const;
  /// How many samples the split has: more than size() if a limit left a part.
  int64_t split_size() const { return std::max(split_size_, size()); }

 private:
  void add_sample(Fingerprint& fingerprint, int64_t index) const;
  const SequenceOrigins& origins() const;
  const SequenceSample& sample(int64_t index) const { return samples_.at(static_cast<size_t>(index)); }

  std::shared_ptr<const TokenStore> store_;
  std::vector<SequenceSample> samples_;
  Vocabulary vocabulary_;
  std::vector<std::string> class_names_;
  SequenceCounts counts_;
  std::shared_ptr<const SequenceOrigins> origins_;  // null if none were stored
  std::string text_digest_;  // of all texts that were read; empty where the sequences were made of something else
  int64_t split_size_ = 0;
};

/// Lines for a log: what the data set holds and what was done by rule, nothing about rules that were not needed.
std::vector<std::string> describe(const SequenceDataset& dataset, const std::string& split_name);
/// Only the lines about what was done by rule: "2 sequences were longer than data.max_length and cut".
std::vector<std::string> describe(const SequenceCounts& counts);

}  // namespace cachet::data
