#include "cachet/data/text/corpora/corpus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/data/data_file.h"
#include "cachet/data/data_path.h"
#include "cachet/data/fingerprint.h"
#include "cachet/data/named_by.h"
#include "cachet/data/text/encoders/normalizing_encoder.h"
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/encoders/word_vocabulary.h"
#include "cachet/data/text/text_lines.h"
#include "cachet/data/text/text_pieces.h"
#include "cachet/io/compression/compressed.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<config::Choice<CorpusTokens>, 3> kCorpusTokens{
    {{"words", CorpusTokens::words}, {"subwords", CorpusTokens::subwords}, {"bytes", CorpusTokens::bytes}}};

constexpr uint64_t kMaxVocabularyBytes = uint64_t{1} << 30;

// Names of a split, as people write them.
std::vector<std::string> split_words(SequenceSplit split) {
  if (split == SequenceSplit::validation) return {"valid", "validation", "dev"};
  return {to_string(split)};
}

std::vector<std::string> text_names(SequenceSplit split) {
  std::vector<std::string> names;
  for (const std::string& word : split_words(split))
    for (const std::string& name : {"wiki." + word + ".tokens", word + ".txt", word}) names.push_back(name);
  return names;
}

class TokensInMemory final : public TokenSequence {
 public:
  TokensInMemory(const std::vector<Token>& tokens, int64_t vocabulary) : store_(vocabulary) { store_.add(tokens); }
  int64_t size() const override { return static_cast<int64_t>(store_[0].size()); }
  void read(int64_t first, int64_t count, int64_t* out) const override {
    if (first < 0 || count < 0 || first > size() || count > size() - first)
      throw std::out_of_range("tokens " + std::to_string(first) + " to " + std::to_string(first + count) + " of " +
                              std::to_string(size()));
    for (int64_t i = 0; i < count; ++i) out[i] = store_[0][static_cast<size_t>(first + i)];
  }

 private:
  TokenStore store_;
};

// The beginning of another sequence.
class FirstTokens final : public TokenSequence {
 public:
  FirstTokens(std::shared_ptr<const TokenSequence> whole, int64_t count) : whole_(std::move(whole)), count_(count) {}
  int64_t size() const override { return count_; }
  void read(int64_t first, int64_t count, int64_t* out) const override {
    if (count > count_ - first)
      throw std::out_of_range("only the first " + std::to_string(count_) +
                              " tokens are used, but a later token was requested");
    whole_->read(first, count, out);
  }

 private:
  std::shared_ptr<const TokenSequence> whole_;
  int64_t count_;
};

void for_each_token(const TokenSequence& tokens, const std::function<void(Token)>& use) {
  constexpr int64_t kPiece = int64_t{1} << 16;
  std::vector<int64_t> ids;
  for (int64_t first = 0; first < tokens.size(); first += kPiece) {
    ids.resize(static_cast<size_t>(std::min(kPiece, tokens.size() - first)));
    tokens.read(first, static_cast<int64_t>(ids.size()), ids.data());
    for (const int64_t id : ids) use(static_cast<Token>(id));
  }
}

constexpr TextSize kLineEnd{1, 1};

/// Of tokens of one line, without its end.
TextSize decoded_size(const TextEncoder& encoder, const std::vector<Token>& tokens) {
  return size_of(encoder.decode(tokens));
}

std::vector<Token> known_tokens(const EncodedText& encoded) {
  std::vector<Token> known;
  known.reserve(encoded.tokens.size());
  auto unknown = encoded.unknown.begin();
  for (size_t i = 0; i < encoded.tokens.size(); ++i) {
    if (unknown != encoded.unknown.end() && *unknown == i)
      ++unknown;
    else
      known.push_back(encoded.tokens[i]);
  }
  return known;
}

/// Each token is a byte, so that the size of a text that was cut can be counted, too.
void count_text_of_bytes(Corpus& corpus) {
  corpus.facts.text.bytes = corpus.facts.tokens;
  for_each_token(*corpus.tokens, [&](Token id) { corpus.facts.text.characters += ((id - 1) & 0xC0) != 0x80 ? 1 : 0; });
}

Corpus from_token_file(const fs::path& path, const Vocabulary& vocabulary) {
  auto file = std::make_shared<const TokenFile>(TokenFile::open(path));
  file->require(vocabulary);
  Corpus corpus{file, file->facts(), path};
  corpus.file_note = file->note();
  return corpus;
}

Corpus from_text(const fs::path& path, const TextEncoder& encoder, CorpusTokens tokens, CountCoded count) {
  const Vocabulary vocabulary = encoder.vocabulary();
  Corpus corpus{nullptr, {vocabulary.size, vocabulary.fingerprint_of_tokens()}, path};
  std::vector<Token> all;
  CodedText coded;
  Fingerprint text;
  for_each_piece(path, [&](std::string_view lines) {
    text.add(std::as_bytes(std::span(lines)));
    if (corpus.facts.text.bytes == 0) corpus.begins_with_mark = lines.starts_with(kByteOrderMark);
    const EncodedCorpus piece = encode_corpus(lines, encoder, tokens, count);
    all.insert(all.end(), piece.tokens.begin(), piece.tokens.end());
    corpus.facts.text += piece.text;
    coded += piece.coded;
    corpus.replaced += piece.replaced;
  });
  corpus.unknown = coded.unknown;
  if (count == CountCoded::yes) corpus.facts.coded = coded;
  corpus.text_digest = text.text();
  corpus.facts.tokens = static_cast<int64_t>(all.size());
  corpus.tokens = std::make_shared<const TokensInMemory>(all, vocabulary.size);
  return corpus;
}

}  // namespace

CorpusOptions read_corpus_options(const config::View& data, DataRoot root) {
  CorpusOptions options;
  options.root = root == DataRoot::required ? data.required_text("root") : data.text("root", "");
  options.tokens = data.choice("tokens", options.tokens, kCorpusTokens);
  options.normalization = read_normalization(data);
  options.fraction = data.real("fraction", options.fraction, {.least = 0, .most = 1, .least_excluded = true});
  options.limit = data.integer("limit", options.limit, {.least = 0});
  if (options.tokens == CorpusTokens::bytes) {
    for (const char* key : {"vocabulary_file", "vocabulary", "vocabulary_hash"})
      data.refuse(key, "has no effect with data.tokens = \"bytes\", whose vocabulary is fixed; remove it");
    options.vocabulary = kByteVocabulary;
    return options;
  }
  const bool words = options.tokens == CorpusTokens::words;
  options.vocabulary_file = data.text("vocabulary_file", words ? "words.txt" : "subwords.model");
  options.vocabulary_hash = data.text("vocabulary_hash", options.vocabulary_hash);
  options.vocabulary = data.integer("vocabulary", words ? 33278 : 8000, {2, kMaxTokens});
  return options;
}

std::string expected_corpus_files(const CorpusOptions& options) {
  std::string files = "train.txt, valid.txt and test.txt, or wiki.train.tokens and so on (plain, .gz or .xz)";
  if (options.tokens == CorpusTokens::words)
    files += ", and " + options.vocabulary_file.string() + " (`cachet data words`)";
  if (options.tokens == CorpusTokens::subwords)
    files += ", and " + options.vocabulary_file.string() + " (`cachet data subwords`)";
  return files;
}

fs::path find_corpus_root(const CorpusOptions& options, const fs::path& working_folder) {
  return find_data_path("data.root", options.root, PathKind::folder, working_folder,
                        "it should hold " + expected_corpus_files(options));
}

VocabularyFile read_vocabulary_file(const CorpusOptions& options, const fs::path& working_folder) {
  if (options.tokens == CorpusTokens::bytes) return {};
  // A run's own copy has a whole path, and needs no data next to it.
  fs::path path = options.vocabulary_file;
  if (path.is_relative()) path = find_corpus_root(options, working_folder) / options.vocabulary_file;
  std::error_code unreadable;
  if (!fs::is_regular_file(path, unreadable))
    path = named_by({"data.root"}, [&] {
      return find_data_path("data.vocabulary_file", options.vocabulary_file, PathKind::file, working_folder,
                            options.tokens == CorpusTokens::words
                                ? "`cachet data words " + options.root.string() + " -o " +
                                      options.vocabulary_file.string() + "` makes the file from the training text"
                                : "`cachet data subwords --line-ends` makes the file from a folder of texts");
    });
  return {path, named_by({"data.vocabulary_file"}, [&] { return io::read_text_file(path, kMaxVocabularyBytes); })};
}

std::unique_ptr<const TextEncoder> make_corpus_encoder(const CorpusOptions& options, const fs::path& working_folder) {
  if (options.tokens == CorpusTokens::bytes)
    return with_normalization(std::make_unique<ByteEncoder>(), options.normalization, "bytes");
  const VocabularyFile file = read_vocabulary_file(options, working_folder);
  const std::string name = file.path.string();
  if (!options.vocabulary_hash.empty() && io::sha256_hex(file.bytes) != options.vocabulary_hash)
    throw io::Error(name + ": is not the vocabulary of the recipe: its hash differs from data.vocabulary_hash, " +
                    options.vocabulary_hash);
  using Encoder = std::unique_ptr<const TextEncoder>;
  auto encoder = named_by({"data.vocabulary_file", "data.tokens"}, [&]() -> Encoder {
    if (options.tokens == CorpusTokens::words) return std::make_unique<WordEncoder>(file.bytes, name);
    return std::make_unique<SubwordEncoder>(file.bytes, name);
  });
  if (options.vocabulary > 0 && encoder->vocabulary().size != options.vocabulary)
    throw io::Error(name + ": has " + std::to_string(encoder->vocabulary().size) +
                    " tokens, but the recipe has data.vocabulary = " + std::to_string(options.vocabulary));
  return with_normalization(std::move(encoder), options.normalization, name);
}

Token line_end(CorpusTokens tokens, const Vocabulary& vocabulary) {
  if (tokens == CorpusTokens::words) return WordEncoder::kEndOfLine;
  if (tokens == CorpusTokens::bytes) return static_cast<Token>('\n') + 1;
  if (!vocabulary.special.end)
    throw io::Error(
        "data.tokens = \"subwords\" needs a subword model with an end-of-sequence token, which marks the end of a "
        "line. The model of data.vocabulary_file has no such token; make it with `cachet data subwords --line-ends`");
  return *vocabulary.special.end;
}

EncodedCorpus encode_corpus(std::string_view text, const TextEncoder& encoder, CorpusTokens tokens, CountCoded count) {
  const Vocabulary vocabulary = encoder.vocabulary();
  const Token end_of_line = line_end(tokens, vocabulary);
  EncodedCorpus all;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string line = normalized(text.substr(0, end), vocabulary.normalization);
    // The last line has an end whether or not its text has one.
    std::string with_end(line);
    if (tokens != CorpusTokens::subwords) with_end += '\n';
    EncodedText encoded = encoder.encode(with_end, std::numeric_limits<int64_t>::max() - 1);
    all.tokens.insert(all.tokens.end(), encoded.tokens.begin(), encoded.tokens.end());
    if (tokens == CorpusTokens::subwords) all.tokens.push_back(end_of_line);
    all.replaced += encoded.replaced;
    all.coded.unknown += static_cast<int64_t>(encoded.unknown.size());
    all.text += size_of(line);
    all.text += kLineEnd;
    if (count == CountCoded::yes) {
      if (tokens != CorpusTokens::subwords) encoded.tokens.pop_back();
      all.coded.size += smaller(decoded_size(encoder, known_tokens(encoded)), size_of(line));
      all.coded.size += kLineEnd;
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return all;
}

bool has_corpus_text(const fs::path& folder, SequenceSplit split) {
  const std::vector<std::string> names = text_names(split);
  return std::ranges::any_of(names, [&](const std::string& name) { return has_data_file(folder, name); });
}

fs::path find_corpus_text(const fs::path& place, SequenceSplit split) {
  std::error_code unreadable;
  if (fs::is_regular_file(place, unreadable)) return place;
  const std::vector<std::string> names = text_names(split);
  for (const std::string& name : names)
    if (has_data_file(place, name)) return find_data_file(place, name);
  throw io::Error(place.string() + ": has no text for the split " + to_string(split) + ": neither " + names[0] +
                  " nor " + names[1] + " (plain, .gz or .xz)");
}

fs::path find_corpus_text(const CorpusOptions& options, SequenceSplit split, const fs::path& working_folder) {
  const fs::path root = find_corpus_root(options, working_folder);
  return named_by({"data.root"}, [&] { return find_corpus_text(root, split); });
}

std::string token_file_name(SequenceSplit split) { return std::string(to_string(split)) + ".tokens-cachet"; }

std::string digest_of_corpus_file(const CorpusOptions& options, SequenceSplit split, const fs::path& working_folder) {
  const fs::path root = find_corpus_root(options, working_folder), tokens = root / token_file_name(split);
  std::error_code unreadable;
  constexpr size_t kPieceBytes = size_t{1} << 24;
  Fingerprint bytes;
  io::for_each_piece_of_file(fs::exists(tokens, unreadable) ? tokens : find_corpus_text(root, split), kPieceBytes,
                             [&](std::span<const std::byte> piece) { bytes.add(piece); });
  return bytes.text();
}

Corpus open_corpus(const CorpusOptions& options, const TextEncoder& encoder, SequenceSplit split,
                   const fs::path& working_folder) {
  const fs::path root = find_corpus_root(options, working_folder);
  std::optional<Corpus> corpus;
  std::error_code unreadable;
  if (const fs::path path = root / token_file_name(split); fs::exists(path, unreadable))
    corpus = from_token_file(path, encoder.vocabulary());
  if (!corpus) {
    const fs::path text = named_by({"data.root"}, [&] { return find_corpus_text(root, split); });
    corpus = from_text(text, encoder, options.tokens, split == SequenceSplit::train ? CountCoded::no : CountCoded::yes);
  }
  corpus->split_tokens = corpus->facts.tokens;
  int64_t kept = corpus->facts.tokens;
  if (split == SequenceSplit::train) kept = std::llround(options.fraction * static_cast<double>(kept));
  if (options.limit > 0) kept = std::min(kept, options.limit);
  if (kept < corpus->facts.tokens) {
    corpus->tokens = std::make_shared<const FirstTokens>(corpus->tokens, kept);
    corpus->facts.tokens = kept;
    corpus->facts.text = {};
    corpus->facts.coded.reset();
    corpus->unknown = 0;
    if (options.tokens == CorpusTokens::bytes) count_text_of_bytes(*corpus);
  }
  if (corpus->facts.tokens < 2)
    throw io::Error(
        corpus->path.string() +
        (kept < corpus->split_tokens ? ": with data.fraction and data.limit, the number of tokens is "
                                     : ": the number of tokens is ") +
        std::to_string(corpus->facts.tokens) +
        ". A text needs at least two tokens, because the model predicts each token from the tokens before it");
  return *corpus;
}

CodedCorpus coded_text(const Corpus& corpus, const TextEncoder& encoder, CorpusTokens tokens) {
  const Vocabulary vocabulary = encoder.vocabulary();
  const Token end_of_line = line_end(tokens, vocabulary);
  const std::optional<Token> unknown = vocabulary.special.unknown;
  CodedText coded;
  std::vector<Token> line;
  const auto end_line = [&] {
    if (unknown) coded.unknown += static_cast<int64_t>(std::erase(line, *unknown));
    coded.size += decoded_size(encoder, line);
    line.clear();
  };
  const auto add = [&](Token token) {
    if (token != end_of_line) return line.push_back(token);
    end_line();
    coded.size += kLineEnd;
  };
  int64_t first = 0;
  corpus.tokens->read(0, 1, &first);
  add(static_cast<Token>(first));
  end_line();
  const TextSize of_first = std::exchange(coded, {}).size;
  if (corpus.facts.coded) {
    coded = *corpus.facts.coded;
    coded.size -= smaller(of_first, coded.size);
    return {of_first, coded};
  }
  for_each_token(*corpus.tokens, [&, is_first = true](Token token) mutable {
    if (!std::exchange(is_first, false)) add(token);
  });
  end_line();
  return {of_first, coded};
}

DataDigest Corpus::digest() const {
  constexpr int64_t kPiece = int64_t{1} << 16;
  Fingerprint contents;
  contents.add(facts.vocabulary).add(facts.fingerprint).add(facts.tokens);
  contents.add(facts.text.bytes).add(facts.text.characters);
  std::vector<int64_t> wide(static_cast<size_t>(std::min(kPiece, facts.tokens)));
  std::vector<Token> ids(wide.size());
  for (int64_t place = 0; place < facts.tokens; place += kPiece) {
    const int64_t count = std::min(kPiece, facts.tokens - place);
    tokens->read(place, count, wide.data());
    std::ranges::copy(std::span(wide).first(static_cast<size_t>(count)), ids.begin());
    contents.add(std::as_bytes(std::span(ids).first(static_cast<size_t>(count))));
  }
  return {.contents = contents.text(), .texts = text_digest};
}

std::string Corpus::fingerprint() const {
  Fingerprint digest;
  digest.add(facts.vocabulary).add(facts.fingerprint).add(facts.tokens);
  Fingerprint::for_some(facts.tokens, [&](int64_t place) {
    int64_t id = 0;
    tokens->read(place, 1, &id);
    digest.add(id);
  });
  return digest.text();
}

std::vector<std::string> Corpus::notes(const char* split) const {
  std::string line = std::string(split) + ": " + config::counted(facts.tokens, "token") + " of " + path.string();
  if (unknown > 0) line += ", " + std::to_string(unknown) + " of them unknown";
  std::vector<std::string> lines{line};
  if (replaced > 0) lines.push_back(std::string(split) + ": " + replaced_bytes_text(replaced));
  if (file_note) lines.push_back(std::string(split) + ": " + *file_note);
  if (begins_with_mark)
    lines.push_back(std::string(split) + ": the text begins with a byte-order mark, which is not removed");
  return lines;
}

}  // namespace cachet::data
