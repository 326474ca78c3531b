#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/text/corpora/corpus.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_options.h"

namespace cachet::data {

/// Type of the tokens of sentences and translations.
enum class ParallelTokens { subwords, words };

/// The two sides of a pair of sentences.
enum class ParallelSide { source, target };
const char* to_string(ParallelSide side);  // "source" or "target"

/// A vocabulary that a recipe names.
struct ParallelVocabulary {
  std::filesystem::path file = "subwords.model";  // from `cachet data subwords --line-ends` or `cachet data words`;
                                                  // the file is below the root, the working folder or $CACHET_DATA
  int64_t size = 8000;                            // required number of tokens; 0: any
  std::string hash{};                             // if given, the file must have this hash
  bool operator==(const ParallelVocabulary&) const = default;
};

/// Conditions for training pairs. Evaluation splits have all pairs, and their sentences are cut to max_length tokens.
struct PairRules {
  int64_t max_length = 512;  // maximum number of tokens of a side, without its end
  double max_ratio = 0;      // maximum ratio of the longer side's tokens to the shorter side's; 0 = any
};

/// A recipe's [data] table for texts and their translations.
struct ParallelOptions {
  std::filesystem::path root{};    // a folder; relative to the working folder, else to CACHET_DATA
  std::string source{}, target{};  // languages, which are the endings of file names: "de" and "en"
  std::vector<std::string> train{}, validation{}, test{};  // beginnings of file names; all are read.
                                                           // If no beginnings are set, see parallel_stems().
  std::vector<std::string> columns{};  // language of each column of .tsv files; "-" for a column that is ignored
  ParallelTokens tokens = ParallelTokens::subwords;
  bool shared_vocabulary = true;
  ParallelVocabulary source_vocabulary{}, target_vocabulary{};  // equal if the vocabulary is shared
  PairRules rules{};
  TextNormalization normalization = TextNormalization::none;  // the form that all texts are brought into
  double fraction = 1;                                        // fraction of the training pairs to use, in (0, 1]
  int64_t limit = 0;                                          // largest number of pairs of each split; 0 = all
  uint64_t subset_seed = 0;                                   // seed for drawing the pairs of `fraction`

  const ParallelVocabulary& vocabulary(ParallelSide side) const {
    return side == ParallelSide::source ? source_vocabulary : target_vocabulary;
  }
  const std::string& language(ParallelSide side) const { return side == ParallelSide::source ? source : target; }
};

/// Reads the keys root, source, target, train, validation, test, columns, tokens, shared_vocabulary, max_length,
/// max_ratio, normalize, fraction, limit and subset_seed. Also reads the keys vocabulary_file, vocabulary and
/// vocabulary_hash; if the vocabulary is not shared, these keys have the prefixes source_ and target_. If `root` is
/// optional, the keys source and target (the languages) are optional, too.
ParallelOptions read_parallel_options(const config::View& data, DataRoot root = DataRoot::required);

/// Returns a description of the files that the folder of the data should have.
std::string expected_parallel_files(const ParallelOptions& options);
/// Finds the folder of `root`. If the folder is missing, throws io::Error, which names the folders that were tried and
/// the files that the folder should hold.
std::filesystem::path find_parallel_root(const ParallelOptions& options, const std::filesystem::path& working_folder);

/// Reads the vocabulary file of one side (source or target). Throws io::Error.
VocabularyFile read_parallel_vocabulary(const ParallelOptions& options, ParallelSide side,
                                        const std::filesystem::path& working_folder);

/// Ids of a sentence's begin and end tokens. If a vocabulary has no begin id, its end id serves as both, as in fairseq.
struct SentenceMarks {
  Token begin = 0, end = 0;
  bool operator==(const SentenceMarks&) const = default;
};

/// Converts the sentences of one side (source or target) to tokens.
struct SentenceEncoder {
  std::shared_ptr<const TextEncoder> texts;
  SentenceMarks marks;

  struct Sentence {
    std::vector<Token> tokens{};        // without marks: ids of marks and padding are replaced by <unk>
    int64_t unknown = 0, replaced = 0;  // tokens that are <unk>; bytes that were not UTF-8
  };
  Sentence encode(std::string_view sentence) const;
};

/// Makes the encoder of one side (source or target). Throws io::Error if the vocabulary's file is missing or damaged,
/// if its hash, number of tokens or normalization differs from the options, or if it has no end token.
SentenceEncoder make_sentence_encoder(const ParallelOptions& options, ParallelSide side,
                                      const std::filesystem::path& working_folder);

}  // namespace cachet::data
