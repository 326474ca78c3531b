#include "cachet/data/text/parallel/parallel_options.h"

#include <algorithm>
#include <array>
#include <limits>

#include "cachet/data/data_path.h"
#include "cachet/data/named_by.h"
#include "cachet/data/text/encoders/normalizing_encoder.h"
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/encoders/word_vocabulary.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

constexpr std::array<config::Choice<ParallelTokens>, 2> kParallelTokens{
    {{"subwords", ParallelTokens::subwords}, {"words", ParallelTokens::words}}};

constexpr uint64_t kMaxParallelVocabularyBytes = uint64_t{1} << 30;
constexpr int64_t kLongestSentence = 1 << 20;

std::string read_language(const config::View& data, const char* key, DataRoot root) {
  const std::string language = root == DataRoot::required ? data.required_text(key) : data.text(key, "");
  if (language.find('/') != std::string::npos)
    data.problem(key, "must be the ending of a file name, such as \"de\", and must not contain \"/\"");
  return language;
}

// The keys of a vocabulary, whose names begin with `which`: "", "source_" or "target_".
ParallelVocabulary read_vocabulary(const config::View& data, const std::string& which, ParallelTokens tokens) {
  const bool words = tokens == ParallelTokens::words;
  ParallelVocabulary vocabulary;
  const std::string file = which.empty() ? (words ? "words.txt" : "subwords.model")
                                         : which.substr(0, which.size() - 1) + (words ? "-words.txt" : ".model");
  vocabulary.file = data.text(which + "vocabulary_file", file);
  vocabulary.size = data.integer(which + "vocabulary", vocabulary.size, {4, kMaxTokens});
  vocabulary.hash = data.text(which + "vocabulary_hash", vocabulary.hash);
  return vocabulary;
}

void check_columns(const config::View& data, const ParallelOptions& options) {
  if (options.columns.empty()) return;
  for (const std::string& language : {options.source, options.target})
    if (std::ranges::count(options.columns, language) != 1)
      data.problem("columns", "must contain \"" + language +
                                  "\" exactly once, because it is the language of data.source or data.target");
}

std::string vocabulary_key(const ParallelOptions& options, ParallelSide side) {
  return (options.shared_vocabulary ? std::string() : std::string(to_string(side)) + "_") + "vocabulary";
}

}  // namespace

const char* to_string(ParallelSide side) { return side == ParallelSide::source ? "source" : "target"; }

ParallelOptions read_parallel_options(const config::View& data, DataRoot root) {
  ParallelOptions options;
  options.root = root == DataRoot::required ? data.required_text("root") : data.text("root", "");
  options.source = read_language(data, "source", root);
  options.target = read_language(data, "target", root);
  if (!options.source.empty() && options.source == options.target)
    data.problem("target", "must not be the same language as data.source");
  options.train = data.texts("train", options.train);
  options.validation = data.texts("validation", options.validation);
  options.test = data.texts("test", options.test);
  options.columns = data.texts("columns", options.columns);
  check_columns(data, options);
  options.tokens = data.choice("tokens", options.tokens, kParallelTokens);
  options.shared_vocabulary = data.boolean("shared_vocabulary", options.shared_vocabulary);
  if (options.shared_vocabulary) {
    options.source_vocabulary = options.target_vocabulary = read_vocabulary(data, "", options.tokens);
    for (const char* side : {"source_", "target_"})
      for (const char* key : {"vocabulary_file", "vocabulary", "vocabulary_hash"})
        data.refuse(std::string(side) + key, "needs data.shared_vocabulary = false");
  } else {
    options.source_vocabulary = read_vocabulary(data, "source_", options.tokens);
    options.target_vocabulary = read_vocabulary(data, "target_", options.tokens);
    for (const char* key : {"vocabulary_file", "vocabulary", "vocabulary_hash"})
      data.refuse(key,
                  "is the vocabulary of both languages, but data.shared_vocabulary is false; set the keys that begin "
                  "with source_ and target_");
  }
  options.rules.max_length = data.integer("max_length", options.rules.max_length, {1, kLongestSentence});
  options.rules.max_ratio = data.real("max_ratio", options.rules.max_ratio, {.least = 0});
  if (options.rules.max_ratio > 0 && options.rules.max_ratio < 1)
    data.problem("max_ratio",
                 "is the length of the longer side divided by the length of the shorter side, so it must be at least "
                 "1, or 0 for no limit");
  options.normalization = read_normalization(data);
  options.fraction = data.real("fraction", options.fraction, {.least = 0, .most = 1, .least_excluded = true});
  options.limit = data.integer("limit", options.limit, {.least = 0});
  options.subset_seed = static_cast<uint64_t>(data.integer("subset_seed", 0, {.least = 0}));
  return options;
}

std::string expected_parallel_files(const ParallelOptions& options) {
  const std::string end = "." + options.source, other = "." + options.target;
  std::string files;
  const auto add = [&](const std::vector<std::string>& chosen, const char* usual) {
    for (const std::string& stem : chosen.empty() ? std::vector<std::string>{usual} : chosen) {
      if (!files.empty()) files += ", ";
      files += stem + end + " and " + stem + other;
    }
  };
  add(options.train, "train");
  add(options.validation, "valid");
  add(options.test, "test");
  files += " (plain, .gz or .xz), or .tsv files with both languages";
  if (options.shared_vocabulary) return files + ", and " + options.source_vocabulary.file.string();
  return files + ", " + options.source_vocabulary.file.string() + " and " + options.target_vocabulary.file.string();
}

std::filesystem::path find_parallel_root(const ParallelOptions& options, const std::filesystem::path& working_folder) {
  return find_data_path("data.root", options.root, PathKind::folder, working_folder,
                        "it should contain " + expected_parallel_files(options));
}

VocabularyFile read_parallel_vocabulary(const ParallelOptions& options, ParallelSide side,
                                        const std::filesystem::path& working_folder) {
  const ParallelVocabulary& vocabulary = options.vocabulary(side);
  // A run's own copy has a whole path, and needs no data next to it.
  std::filesystem::path path = vocabulary.file;
  if (path.is_relative()) path = find_parallel_root(options, working_folder) / vocabulary.file;
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable))
    path = named_by({"data.root"}, [&] {
      return find_data_path("data." + vocabulary_key(options, side) + "_file", vocabulary.file, PathKind::file,
                            working_folder,
                            options.tokens == ParallelTokens::words
                                ? "`cachet data words` makes the file from a training text"
                                : "`cachet data subwords --line-ends` makes the file from training texts");
    });
  const std::string key = "data." + vocabulary_key(options, side) + "_file";
  return {path, named_by({key}, [&] { return io::read_text_file(path, kMaxParallelVocabularyBytes); })};
}

SentenceEncoder::Sentence SentenceEncoder::encode(std::string_view sentence) const {
  const SpecialTokens special = texts->vocabulary().special;
  EncodedText encoded = texts->encode(sentence, std::numeric_limits<int64_t>::max() - 1);
  Sentence result{std::move(encoded.tokens), 0, encoded.replaced};
  if (!special.unknown) return result;
  const Token unknown = *special.unknown;
  for (Token& token : result.tokens)
    if (token == marks.begin || token == marks.end || token == kPaddingToken) token = unknown;
  result.unknown = std::ranges::count(result.tokens, unknown);
  return result;
}

SentenceEncoder make_sentence_encoder(const ParallelOptions& options, ParallelSide side,
                                      const std::filesystem::path& working_folder) {
  const ParallelVocabulary& vocabulary = options.vocabulary(side);
  const VocabularyFile file = read_parallel_vocabulary(options, side, working_folder);
  const std::string name = file.path.string(), key = "data." + vocabulary_key(options, side);
  if (!vocabulary.hash.empty() && io::sha256_hex(file.bytes) != vocabulary.hash)
    throw io::Error(name + ": is not the vocabulary of the recipe: its hash differs from " + key + "_hash, " +
                    vocabulary.hash);
  const bool words = options.tokens == ParallelTokens::words;
  SentenceEncoder encoder;
  using Encoder = std::unique_ptr<const TextEncoder>;
  const std::string file_key = key + "_file";
  auto texts = named_by({file_key, "data.tokens"}, [&]() -> Encoder {
    if (words) return std::make_unique<WordEncoder>(file.bytes, name);
    return std::make_unique<SubwordEncoder>(file.bytes, name);
  });
  encoder.texts = with_normalization(std::move(texts), options.normalization, name);
  const Vocabulary found = encoder.texts->vocabulary();
  if (vocabulary.size > 0 && found.size != vocabulary.size)
    throw io::Error(name + ": has " + std::to_string(found.size) + " tokens, but the recipe has " + key + " = " +
                    std::to_string(vocabulary.size));
  if (!words && !found.special.end)
    throw io::Error(
        name +
        ": the vocabulary has no end-of-sentence token; make it with `cachet data subwords --line-ends`, and set " +
        file_key + " to it");
  const Token end = words ? WordEncoder::kEndOfLine : *found.special.end;
  encoder.marks = {found.special.begin.value_or(end), end};
  return encoder;
}

}  // namespace cachet::data
