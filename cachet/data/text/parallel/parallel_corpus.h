#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/data_digest.h"
#include "cachet/data/text/parallel/parallel_files.h"
#include "cachet/data/text/parallel/parallel_options.h"
#include "cachet/data/text/parallel/parallel_sentences.h"

namespace cachet::data {

/// The encoders of both sides. If the vocabulary is shared, source and target have the same encoder.
struct ParallelEncoders {
  SentenceEncoder source, target;
  const SentenceEncoder& of(ParallelSide side) const { return side == ParallelSide::source ? source : target; }
};
/// Makes the encoders of both sides. Throws io::Error for the faults of make_sentence_encoder().
ParallelEncoders make_parallel_encoders(const ParallelOptions& options, const std::filesystem::path& working_folder);

/// Whether data.fraction selects training pair `pair`, counted in the order of reading. Whether a pair is selected does
/// not depend on other pairs, so no other pair needs to be read first. A pair that a smaller fraction selects is also
/// selected by every larger fraction.
bool is_kept_to_train(const ParallelOptions& options, int64_t pair);

/// Counts of the sentence pairs of a split.
struct PairCounts {
  int64_t read = 0;
  int64_t empty = 0, too_long = 0, unbalanced = 0;         // pairs left out of training, by the first applicable reason
  int64_t cut = 0;                                         // sentences of other splits that were longer than max_length
  std::array<int64_t, 2> tokens{}, unknown{}, replaced{};  // counts by side, for the pairs in use
                                                           // `replaced` counts non-UTF-8 bytes (token files: 0).
  int64_t left_out() const { return empty + too_long + unbalanced; }
  bool operator==(const PairCounts&) const = default;
};

/// A split of parallel text: sentences and their translations as tokens, in the order of the files.
class ParallelCorpus {
 public:
  /// Opens a split. The training split has the pairs that pass PairRules. Evaluation splits have all pairs, so pair i
  /// is line i. Throws io::Error if files are missing, damaged, empty or of unequal length, and if no pair is left.
  static std::shared_ptr<const ParallelCorpus> open(
      const ParallelOptions& options, const ParallelEncoders& encoders, SequenceSplit split,
      const std::filesystem::path& working_folder = std::filesystem::current_path());

  int64_t size() const { return sides_[0].sentences->size(); }
  /// Returns the number of pairs in the files of an evaluation split, which exceeds size() if a limit leaves out pairs.
  /// For training data, returns size().
  int64_t split_size() const { return std::max(split_size_, size()); }
  const Vocabulary& vocabulary(ParallelSide side) const { return of(side).vocabulary; }
  const SentenceMarks& marks(ParallelSide side) const { return of(side).marks; }
  /// Returns the number of tokens of a sentence, without its begin and end marks. Throws std::out_of_range if there is
  /// no pair with the index `pair`.
  int64_t length(ParallelSide side, int64_t pair) const { return of(side).sentences->length(pair); }
  std::vector<Token> tokens(ParallelSide side, int64_t pair) const { return of(side).sentences->tokens(pair); }
  /// Returns the texts of all sentences of one side, in full length, and as normalised by the encoders. For training
  /// data, the returned list is empty.
  const std::vector<std::string>& texts(ParallelSide side) const { return of(side).texts; }

  const PairCounts& counts() const { return counts_; }
  DataDigest digest() const;
  std::string sample_digest(int64_t pair) const;            // digest of the pair's tokens, and of its texts if stored
  std::string fingerprint() const;                          // fingerprint as in version 0.1.0
  std::vector<std::string> notes(const char* split) const;  // lines for the log: contents, and pairs that were left out

 private:
  struct Side {
    std::string language;
    Vocabulary vocabulary;
    SentenceMarks marks;
    std::shared_ptr<const Sentences> sentences;
    std::vector<std::string> texts;
    bool begins_with_mark = false;  // whether the text begins with a byte-order mark
  };
  const Side& of(ParallelSide side) const { return sides_[side == ParallelSide::source ? 0 : 1]; }
  void read_texts(const ParallelOptions& options, const ParallelEncoders& encoders, SequenceSplit split,
                  const std::vector<ParallelFiles>& files);
  void read_token_files(const ParallelOptions& options, const std::vector<ParallelFiles>& files);

  std::array<Side, 2> sides_;
  std::string files_, text_digest_;  // text_digest_ is the digest of all text that was read; empty for files of tokens
  PairRules rules_;
  PairCounts counts_;
  int64_t split_size_ = 0;
  std::vector<std::string> file_notes_;  // TokenFile::note() of files of tokens
};

/// Writes a training text as files of tokens, one for each side, with an end token after each sentence. Training on
/// token files needs no tokenizing, and only 8 bytes of memory per sentence. Returns the paths of the token files and
/// facts about them. Throws io::Error.
struct ParallelTokenFiles {
  std::filesystem::path source, target;
  TokenFileFacts source_facts, target_facts;
  int64_t pairs = 0;
};
ParallelTokenFiles write_parallel_token_files(const ParallelFiles& files, const ParallelOptions& options,
                                              const ParallelEncoders& encoders, const ParallelFiles& into);

}  // namespace cachet::data
