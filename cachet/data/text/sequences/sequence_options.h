#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/text/sequences/sequence_dataset.h"

namespace cachet::data {

struct SequenceKind;  // sequence_kinds.h
extern const SequenceKind kListOps;

/// How texts become tokens: each byte plus 1, or pieces of a SentencePiece model.
enum class TokenKind { bytes, subwords };

/// What becomes of a sequence of more than max_length tokens: its first ones are used, or it is an error.
enum class TooLong { truncate, refuse };
/// What becomes of a sample with an empty text.
enum class EmptyText { refuse, skip };

/// What a split keeps together: samples that share a text (of kinds without texts, all tokens), or nothing.
enum class SplitBy { groups, samples };

enum class SequenceSplit { train, validation, test };
const char* to_string(SequenceSplit split);  // "train", "validation", "test"

/// How texts are read (imdb, matching).
struct TextOptions {
  TokenKind tokens = TokenKind::bytes;
  std::filesystem::path subword_model{};  // what `cachet data subwords` wrote; looked for as the data's root is
  int64_t vocabulary = 8000;              // of subwords; the model must have as many
  std::string vocabulary_hash{};          // of subwords; where given, the model must have it
  EmptyText empty_texts = EmptyText::refuse;
};

/// A recipe's [data] table for sequences.
struct SequenceDatasetOptions {
  const SequenceKind* kind = &kListOps;
  std::filesystem::path root{};  // a folder; relative to the working folder, else to CACHET_DATA
  std::string files{};  // what the names of TSV files begin with: "basic" (listops), "new_aan_pairs" (matching)
  std::vector<std::string> class_names{};  // the model's classes in its order; empty: the kind's
  int64_t max_length = 2000;               // tokens of a sequence
  TooLong too_long = TooLong::truncate;
  TextOptions text{};
  double validation_fraction = 0;      // of imdb and cifar10_pixels: fraction of the training samples held out; 0 = the
                                       // test samples validate too, as in the arena's text task
  SplitBy split_by = SplitBy::groups;  // what validation_fraction holds out
  double fraction = 1;                 // fraction of the training samples to use, in (0, 1]
  int64_t limit = 0;                   // at most so many samples of each split; 0 = all
  uint64_t subset_seed = 0;            // draws what validation_fraction, fraction and limit keep
};

/// Reads kind, root, class_names, max_length, too_long, fraction, limit and subset_seed; files (listops, matching);
/// empty_texts, tokens, subword_model, vocabulary and vocabulary_hash (imdb, matching); validation_fraction and,
/// if it holds samples out, split_by (imdb, cifar10_pixels).
SequenceDatasetOptions read_sequence_dataset_options(const config::View& data);

/// What a model must know of the data before the files are seen.
struct SequenceTraits {
  int64_t vocabulary = 0;  // ids are below it; padding is id 0
  int64_t classes = 0;
  int64_t max_length = 0;
  bool pairs = false;
};
SequenceTraits sequence_traits(const SequenceDatasetOptions& options);

}  // namespace cachet::data
