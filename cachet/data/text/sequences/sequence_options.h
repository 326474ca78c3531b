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

/// The encoding of texts as tokens: the value of each byte plus 1, or pieces of a SentencePiece model.
enum class TokenKind { bytes, subwords };

/// The treatment of a sequence of more than max_length tokens: `truncate` cuts off its end, and `refuse` reports it as
/// an error.
enum class TooLong { truncate, refuse };
/// The treatment of a sample with an empty text.
enum class EmptyText { refuse, skip };

/// The unit of a split: groups of samples with a common text (or, without texts, equal tokens), or single samples.
enum class SplitBy { groups, samples };

enum class SequenceSplit { train, validation, test };
const char* to_string(SequenceSplit split);  // "train", "validation" or "test"

/// Options for reading texts (imdb, matching).
struct TextOptions {
  TokenKind tokens = TokenKind::bytes;
  std::filesystem::path subword_model{};  // from `cachet data subwords`; searched for in the same folders as the root
  int64_t vocabulary = 8000;              // for subwords: number of tokens that the model must have
  std::string vocabulary_hash{};          // for subwords; if given, the model must have this hash
  EmptyText empty_texts = EmptyText::refuse;
};

/// The [data] table of a recipe for sequences.
struct SequenceDatasetOptions {
  const SequenceKind* kind = &kListOps;
  std::filesystem::path root{};            // a folder; relative to the working folder, else to CACHET_DATA
  std::string files{};                     // beginning of TSV file names: "basic" (listops), "new_aan_pairs" (matching)
  std::vector<std::string> class_names{};  // the classes in the model's order; empty: the kind's classes
  int64_t max_length = 2000;               // maximum number of tokens of a sequence
  TooLong too_long = TooLong::truncate;
  TextOptions text{};
  double validation_fraction = 0;      // for imdb and cifar10_pixels: fraction of the training samples to hold out; 0 =
                                       // the test samples are also the validation samples, as in LRA's text task
  SplitBy split_by = SplitBy::groups;  // the unit that validation_fraction holds out
  double fraction = 1;                 // fraction of the training samples to use, in (0, 1]
  int64_t limit = 0;                   // largest number of samples of each split; 0 = all
  uint64_t subset_seed = 0;            // seed for drawing the samples of validation_fraction, fraction and limit
};

/// Reads the keys kind, root, class_names, max_length, too_long, fraction, limit and subset_seed. For the kinds listops
/// and matching, also reads the key `files`. For imdb and matching, also reads empty_texts, tokens, subword_model,
/// vocabulary and vocabulary_hash. For the kinds imdb and cifar10_pixels, also reads the key validation_fraction and,
/// if validation_fraction is above 0, the key split_by.
SequenceDatasetOptions read_sequence_dataset_options(const config::View& data);

/// Properties of the data that a model needs before the files are read.
struct SequenceTraits {
  int64_t vocabulary = 0;  // number of token ids; padding is id 0
  int64_t classes = 0;
  int64_t max_length = 0;
  bool pairs = false;
};
SequenceTraits sequence_traits(const SequenceDatasetOptions& options);

}  // namespace cachet::data
