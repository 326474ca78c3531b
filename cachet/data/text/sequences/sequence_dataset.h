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

/// Counts of the changes to samples during reading, such as cut sequences.
struct SequenceCounts {
  int64_t truncated = 0;                    // number of sequences cut to max_length
  int64_t skipped = 0;                      // number of samples left out because one of their texts is empty
  int64_t replaced = 0;                     // number of bytes that were not UTF-8, replaced by U+FFFD for subwords
  std::optional<PassedOver> passed_over{};  // files ignored by kinds that read all files of a folder
};

/// One sample: its class, and the numbers of its sequences in a store.
struct SequenceSample {
  int64_t tokens = 0, second = -1;  // numbers in the store; second is −1 if samples are not pairs
  int64_t label = 0;
  int64_t place = 0;  // position of the source: number of a line (from 1), or of an image or file (from 0)
};

/// The names and keys of the sequences. The names and keys are stored only if splits will be compared.
struct SequenceOrigins {
  std::string before_place{};        // a sample's name is this text and its position: "basic_val.tsv:", "image "
  std::vector<std::string> files{};  // file at each position, if every sample is a file
  /// The key of each sequence, for comparing splits. The key of a text is a digest of its split_key(), or empty if the
  /// text is blank. If a sequence is not a text, its key is a digest of all its tokens.
  std::vector<std::string> keys{};
};

/// Labelled sequences of token ids, or labelled pairs of sequences, in memory. A sequence that several samples have is
/// stored once. All members may be called from several threads at once.
class SequenceDataset {
 public:
  /// Throws std::invalid_argument for a label that is not a class, for a sequence that is empty or not in the store,
  /// and if some samples are pairs and others are not.
  SequenceDataset(std::shared_ptr<const TokenStore> store, std::vector<SequenceSample> samples, Vocabulary vocabulary,
                  std::vector<std::string> class_names, SequenceCounts counts = {}, std::string text_digest = {});

  int64_t size() const { return static_cast<int64_t>(samples_.size()); }
  bool has_pairs() const { return !samples_.empty() && samples_.front().second >= 0; }
  const std::vector<std::string>& class_names() const { return class_names_; }
  int64_t classes() const { return static_cast<int64_t>(class_names_.size()); }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const SequenceCounts& counts() const { return counts_; }

  /// Returns the first sequence of a sample: one or more ids, each below vocabulary().size.
  TokenView tokens(int64_t index) const { return (*store_)[sample(index).tokens]; }
  /// Returns the second sequence of a pair. If samples are not pairs, the returned sequence is empty.
  TokenView second(int64_t index) const;
  int64_t label(int64_t index) const { return sample(index).label; }
  /// Returns the number of tokens of a sample, or of the longer sequence of a pair.
  int64_t length(int64_t index) const;
  /// Whether a sample (or one of the two sequences of a pair) was cut to max_length.
  bool is_cut(int64_t index) const;

  DataDigest digest() const;
  std::string sample_digest(int64_t index) const;  // digest of the sample's tokens and class
  std::string fingerprint() const;                 // fingerprint as in version 0.1.0

  /// Returns a data set of the same samples for another list of classes: class i becomes class `to[i]` of
  /// `class_names`. The sequences are not copied.
  std::shared_ptr<const SequenceDataset> with_classes(const std::vector<int64_t>& to,
                                                      std::vector<std::string> class_names) const;

  /// Returns the keys by which splits are compared: the key of the sample's sequence, or of both sequences of a pair
  /// (SequenceOrigins::keys). Throws std::logic_error unless origins were stored.
  std::vector<std::string> split_keys(int64_t index) const;
  /// Returns a sample's name in messages: its file, or the file and the line. Throws the errors of split_keys().
  std::string sample_name(int64_t index) const;
  void set_origins(std::shared_ptr<const SequenceOrigins> origins) { origins_ = std::move(origins); }

  /// Returns the samples with the indices `indices`, in this order, without copying sequences. In the result's
  /// counts(), `truncated` counts the subset, but `skipped` and `replaced` count all samples that were read. If a limit
  /// chose the indices, `split_size` is the size of the whole split.
  std::shared_ptr<const SequenceDataset> subset(const std::vector<int64_t>& indices, int64_t split_size = 0) const;
  /// Returns the number of samples of the split, which exceeds size() if a limit left out samples.
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
  std::shared_ptr<const SequenceOrigins> origins_;  // null if no origins were stored
  std::string text_digest_;  // digest of all texts that were read; empty if the sequences were not made of texts
  int64_t split_size_ = 0;
};

/// Returns lines for a log: the contents of the data set, and the changes during reading, such as cut sequences.
std::vector<std::string> describe(const SequenceDataset& dataset, const std::string& split_name);
/// Returns only the lines about changes: "2 sequences were longer than data.max_length and cut".
std::vector<std::string> describe(const SequenceCounts& counts);

}  // namespace cachet::data
