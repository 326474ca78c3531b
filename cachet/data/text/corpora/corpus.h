#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/data_digest.h"
#include "cachet/data/data_path.h"
#include "cachet/data/text/corpora/token_file.h"
#include "cachet/data/text/corpora/token_sequence.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_options.h"

namespace cachet::data {

/// The type of a corpus's tokens.
enum class CorpusTokens { words, subwords, bytes };

/// The [data] table of a recipe for a text that a language model reads.
struct CorpusOptions {
  std::filesystem::path root{};  // a folder; relative to the working folder, else to CACHET_DATA
  CorpusTokens tokens = CorpusTokens::words;
  std::filesystem::path vocabulary_file = "words.txt";        // file of words, or SentencePiece model
                                                              // The file is searched for below the root, then below the
                                                              // working folder, then below CACHET_DATA.
  int64_t vocabulary = 0;                                     // required number of tokens; 0: any
  std::string vocabulary_hash{};                              // if given, the file must have this hash
  TextNormalization normalization = TextNormalization::none;  // the form that all texts are brought into
  double fraction = 1;                                        // fraction of the training tokens, from the first; (0, 1]
  int64_t limit = 0;                                          // largest number of tokens of each split; 0 = all
};

/// Reads the keys root, tokens, vocabulary_file, vocabulary, vocabulary_hash, normalize, fraction and limit of the
/// table [data].
CorpusOptions read_corpus_options(const config::View& data, DataRoot root = DataRoot::required);

/// Returns a description of the files that the folder of the data should have.
std::string expected_corpus_files(const CorpusOptions& options);
/// Finds the folder of `root`. If the folder is missing, throws io::Error, which names the folders that were tried and
/// the files that the folder should hold.
std::filesystem::path find_corpus_root(const CorpusOptions& options, const std::filesystem::path& working_folder);

/// The path and the bytes of a vocabulary's file; empty if tokens are bytes, which need no file. Throws io::Error.
struct VocabularyFile {
  std::filesystem::path path;
  std::string bytes;
};
VocabularyFile read_vocabulary_file(const CorpusOptions& options, const std::filesystem::path& working_folder);

/// Makes the text encoder of the corpus. Throws io::Error if the vocabulary's file is missing or damaged, or if its
/// hash, its number of tokens or its normalization differs from the options.
std::unique_ptr<const TextEncoder> make_corpus_encoder(const CorpusOptions& options,
                                                       const std::filesystem::path& working_folder);

/// The tokens of a split of a corpus. The tokens of each line of the text are followed by the token of the line's end:
/// <eos> for words, the byte "\n" for bytes, or the end token of a subword model.
struct Corpus {
  std::shared_ptr<const TokenSequence> tokens;
  TokenFileFacts facts;                    // `text` and `coded` are empty if the text is cut
  std::filesystem::path path;              // path of the file that was read
  int64_t unknown = 0, replaced = 0;       // unknown tokens, and replaced bytes (not UTF-8)
                                           // For a file of tokens, `unknown` and `replaced` are 0.
                                           // If only a part of the text is used, `unknown` is 0.
  bool begins_with_mark = false;           // whether a text begins with a byte-order mark; unknown for token files
  int64_t split_tokens = 0;                // tokens of the whole split; facts.tokens of them are used. 0 without a file
  std::optional<std::string> file_note{};  // TokenFile::note() of the file
  std::string text_digest{};               // digest of all bytes of the text; empty for a file of tokens
  DataDigest digest() const;               // digest of all tokens and their meaning
  std::string fingerprint() const;         // fingerprint as in version 0.1.0
  std::vector<std::string> notes(const char* split) const;  // lines about the contents, for the log
};

/// Returns the token that represents the end of a line. Throws io::Error for a subword model without an end token.
Token line_end(CorpusTokens tokens, const Vocabulary& vocabulary);

/// The tokens of a text, line by line. Sizes of text are measured after the encoder has normalized the text. The coded
/// text is the text that the known tokens of a line decode to, together with the end of the line. The size of the coded
/// text is at most the size of the line. `coded.size` is computed only on request, because this takes time. Throws
/// io::Error for a subword model without an end token.
struct EncodedCorpus {
  std::vector<Token> tokens;
  TextSize text{};
  CodedText coded{};
  int64_t replaced = 0;
};
enum class CountCoded { no, yes };
EncodedCorpus encode_corpus(std::string_view text, const TextEncoder& encoder, CorpusTokens tokens, CountCoded count);

/// The size of the text that the tokens of a corpus encode: `first` for the first token, which no model predicts, and
/// `targets` for all other tokens. If `corpus.facts.coded` is empty (for a file of an earlier version, or a text that
/// is cut), coded_text() decodes the tokens. Unknown tokens then have no coded text, even if the text contains <unk>.
struct CodedCorpus {
  TextSize first{};
  CodedText targets{};
  bool operator==(const CodedCorpus&) const = default;
};
CodedCorpus coded_text(const Corpus& corpus, const TextEncoder& encoder, CorpusTokens tokens);

/// Finds the text of a split in the folder `place` ("wiki.train.tokens", "train.txt", "train"; plain, .gz or .xz). If
/// `place` is a file, returns `place`. Throws io::Error if the folder has no text for the split.
std::filesystem::path find_corpus_text(const std::filesystem::path& place, SequenceSplit split);
bool has_corpus_text(const std::filesystem::path& folder, SequenceSplit split);

/// Finds the text of a split in the folder of the options. Throws io::Error if the folder has no text for the split.
std::filesystem::path find_corpus_text(const CorpusOptions& options, SequenceSplit split,
                                       const std::filesystem::path& working_folder);

/// Returns the name of a split's file of tokens: "train.tokens-cachet".
std::string token_file_name(SequenceSplit split);

/// Returns the digest of all bytes of the file that open_corpus() reads. Throws io::Error if the file is missing.
std::string digest_of_corpus_file(const CorpusOptions& options, SequenceSplit split,
                                  const std::filesystem::path& working_folder = std::filesystem::current_path());

/// Reads the tokens of a split from its file of tokens ("train.tokens-cachet"). If the split has no file of tokens,
/// tokenizes the text of the split. Throws io::Error if both files are missing, if a file is damaged, if the file of
/// tokens has another vocabulary, or if the text has fewer than two tokens.
Corpus open_corpus(const CorpusOptions& options, const TextEncoder& encoder, SequenceSplit split,
                   const std::filesystem::path& working_folder = std::filesystem::current_path());

}  // namespace cachet::data
