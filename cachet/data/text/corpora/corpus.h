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

/// What the tokens of a corpus are.
enum class CorpusTokens { words, subwords, bytes };

/// A recipe's [data] table for a text that a language model reads.
struct CorpusOptions {
  std::filesystem::path root{};  // a folder; relative to the working folder, else to CACHET_DATA
  CorpusTokens tokens = CorpusTokens::words;
  std::filesystem::path vocabulary_file = "words.txt";  // of words, a SentencePiece model of subwords; looked for in
                                                        // the root, then as the root is
  int64_t vocabulary = 0;                               // how many tokens it must have; 0: any
  std::string vocabulary_hash{};                        // where given, the file must have it
  TextNormalization normalization = TextNormalization::none;  // the form that all texts are brought into
  double fraction = 1;                                        // the first fraction of the training tokens, in (0, 1]
  int64_t limit = 0;                                          // at most so many tokens of each split; 0 = all
};

/// Reads root, tokens, vocabulary_file, vocabulary, vocabulary_hash, normalize, fraction and limit.
CorpusOptions read_corpus_options(const config::View& data, DataRoot root = DataRoot::required);

/// What should lie in the folder, in words.
std::string expected_corpus_files(const CorpusOptions& options);
/// The folder that `root` means. Throws io::Error that names the folders that were tried and the files that should be
/// there.
std::filesystem::path find_corpus_root(const CorpusOptions& options, const std::filesystem::path& working_folder);

/// The bytes of the vocabulary's file, and where it lies; empty of bytes, which have none. Throws io::Error.
struct VocabularyFile {
  std::filesystem::path path;
  std::string bytes;
};
VocabularyFile read_vocabulary_file(const CorpusOptions& options, const std::filesystem::path& working_folder);

/// Makes the tokens of the corpus. Throws io::Error if the vocabulary's file is missing, is damaged, or has another
/// hash, number of tokens or form of texts than the options.
std::unique_ptr<const TextEncoder> make_corpus_encoder(const CorpusOptions& options,
                                                       const std::filesystem::path& working_folder);

/// A split of a corpus, tokenized: each line of the text and its end (<eos> of words, the byte "\n", the end that a
/// subword model has), in their order.
struct Corpus {
  std::shared_ptr<const TokenSequence> tokens;
  TokenFileFacts facts;                    // `text` and `coded` are nothing if the text is cut
  std::filesystem::path path;              // the file
  int64_t unknown = 0, replaced = 0;       // tokens that stand for unknown text; bytes that are not UTF-8. 0 of a file
                                           // of tokens, the former also if the text is cut
  bool begins_with_mark = false;           // a byte-order mark, which is text as any other; unknown of a file of tokens
  int64_t split_tokens = 0;                // of the whole split; facts.tokens of them are used. 0 without a file
  std::optional<std::string> file_note{};  // TokenFile::note()
  std::string text_digest{};               // of all bytes of the text; empty of a file of tokens
  DataDigest digest() const;               // of all tokens and their meaning
  std::string fingerprint() const;         // as version 0.1.0 made it
  std::vector<std::string> notes(const char* split) const;  // what it holds, lines for the log
};

/// What stands for a line's end. Throws io::Error for subwords without an end of a sequence.
Token line_end(CorpusTokens tokens, const Vocabulary& vocabulary);

/// The tokens of a text, line by line. Sizes are those of the text in the form that the encoder brings it into. Of a
/// line coded text is what its tokens, without unknown ones, are decoded to, and at most the line; its end is always
/// coded. `coded.size` takes time and is counted only if it is asked for. Throws io::Error for subwords without an end
/// of a sequence.
struct EncodedCorpus {
  std::vector<Token> tokens;
  TextSize text{};
  CodedText coded{};
  int64_t replaced = 0;
};
enum class CountCoded { no, yes };
EncodedCorpus encode_corpus(std::string_view text, const TextEncoder& encoder, CorpusTokens tokens, CountCoded count);

/// The coded text of a corpus: of its first token, which no model predicts, and of all others. If `corpus.facts.coded`
/// is nothing (a file of an earlier version, or a text that is cut), tokens are decoded. Each unknown token is then
/// text that is not coded, also the word <unk> of a text.
struct CodedCorpus {
  TextSize first{};
  CodedText targets{};
  bool operator==(const CodedCorpus&) const = default;
};
CodedCorpus coded_text(const Corpus& corpus, const TextEncoder& encoder, CorpusTokens tokens);

/// The text of a split in a folder ("wiki.train.tokens", "train.txt", "train"; plain, .gz or .xz), or `place` itself
/// where that is a file. Throws io::Error where there is none.
std::filesystem::path find_corpus_text(const std::filesystem::path& place, SequenceSplit split);
bool has_corpus_text(const std::filesystem::path& folder, SequenceSplit split);

/// The text of a split of these data. Throws io::Error where there is none.
std::filesystem::path find_corpus_text(const CorpusOptions& options, SequenceSplit split,
                                       const std::filesystem::path& working_folder);

/// What a file of tokens of a split is called: "train.tokens-cachet".
std::string token_file_name(SequenceSplit split);

/// Of all bytes of the file that open_corpus() reads. Throws io::Error where there is none.
std::string digest_of_corpus_file(const CorpusOptions& options, SequenceSplit split,
                                  const std::filesystem::path& working_folder = std::filesystem::current_path());

/// Reads a split: a file of tokens ("train.tokens-cachet") where there is one, else the text, which is tokenized
/// then. Throws io::Error for a file that is missing,
/// damaged or of another vocabulary, and for a text of fewer than two tokens.
Corpus open_corpus(const CorpusOptions& options, const TextEncoder& encoder, SequenceSplit split,
                   const std::filesystem::path& working_folder = std::filesystem::current_path());

}  // namespace cachet::data
