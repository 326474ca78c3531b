#include "cachet/data/text/sequence_options.h"

#include <array>
#include <utility>

#include "cachet/config/choice_word.h"
#include "cachet/data/text/pixel_sequences.h"
#include "cachet/data/vision/class_names.h"

namespace cachet::data {
namespace {

constexpr std::array<config::Choice<SequenceKind>, 4> kSequenceKinds{{
    {"listops", SequenceKind::listops},
    {"imdb", SequenceKind::imdb},
    {"matching", SequenceKind::matching},
    {"cifar10_pixels", SequenceKind::cifar10_pixels},
}};
constexpr std::array<config::Choice<TokenKind>, 2> kTokenKinds{
    {{"bytes", TokenKind::bytes}, {"subwords", TokenKind::subwords}}};
constexpr std::array<config::Choice<TooLong>, 2> kTooLong{
    {{"truncate", TooLong::truncate}, {"refuse", TooLong::refuse}}};
constexpr std::array<config::Choice<EmptyText>, 2> kEmptyTexts{
    {{"refuse", EmptyText::refuse}, {"skip", EmptyText::skip}}};

constexpr int64_t kLongestSequence = int64_t{1} << 24;

int64_t default_length(SequenceKind kind) {
  switch (kind) {
    case SequenceKind::imdb:
      return 1'000;
    case SequenceKind::matching:
      return 4'000;
    case SequenceKind::cifar10_pixels:
      return kPixelSide * kPixelSide;
    default:
      return 2'000;
  }
}

TextOptions read_text_options(const config::View& data) {
  TextOptions options;
  options.empty_texts = data.choice("empty_texts", options.empty_texts, kEmptyTexts);
  options.tokens = data.choice("tokens", options.tokens, kTokenKinds);
  if (options.tokens == TokenKind::subwords) {
    options.subword_model = data.required_text("subword_model");
    options.vocabulary = data.integer("vocabulary", options.vocabulary, {2, kMostTokens});
    options.vocabulary_hash = data.text("vocabulary_hash", options.vocabulary_hash);
    return options;
  }
  for (const char* key : {"subword_model", "vocabulary", "vocabulary_hash"})
    data.refuse(key, "is for tokens = \"subwords\" only");
  return options;
}

}  // namespace

std::string_view to_string(SequenceKind kind) { return config::word_of(kind, kSequenceKinds); }

const char* to_string(SequenceSplit split) {
  switch (split) {
    case SequenceSplit::train:
      return "train";
    case SequenceSplit::validation:
      return "validation";
    default:
      return "test";
  }
}

SequenceDatasetOptions read_sequence_dataset_options(const config::View& data) {
  SequenceDatasetOptions options;
  options.kind = data.choice("kind", options.kind, kSequenceKinds);
  options.root = data.required_text("root");
  options.max_length = data.integer("max_length", default_length(options.kind), {1, kLongestSequence});
  options.too_long = data.choice("too_long", options.too_long, kTooLong);
  options.fraction = data.real("fraction", options.fraction, {.least = 0, .most = 1, .least_excluded = true});
  options.limit = data.integer("limit", options.limit, {.least = 0});
  options.subset_seed = static_cast<uint64_t>(data.integer("subset_seed", 0, {.least = 0}));

  const bool has_names = options.kind == SequenceKind::listops || options.kind == SequenceKind::matching;
  if (has_names) {
    options.files = data.text("files", options.kind == SequenceKind::listops ? "basic" : "new_aan_pairs");
    if (options.files.empty() || options.files.find('/') != std::string::npos)
      data.problem("files", "must be what the files' names begin with, no path");
  }
  if (options.kind == SequenceKind::imdb || options.kind == SequenceKind::matching)
    options.text = read_text_options(data);
  if (options.kind == SequenceKind::imdb || options.kind == SequenceKind::cifar10_pixels) {
    const double held_out = options.kind == SequenceKind::imdb ? 0 : 0.1;
    options.validation_fraction = data.real("validation_fraction", held_out, {.least = 0, .most = 0.9});
  }
  return options;
}

std::vector<std::string> sequence_class_names(SequenceKind kind) {
  switch (kind) {
    case SequenceKind::imdb:
      return {"negative", "positive"};
    case SequenceKind::matching:
      return {"different", "matching"};
    case SequenceKind::cifar10_pixels:
      return cifar10_class_names();
    default:
      return numbered_class_names(10);
  }
}

SequenceTraits sequence_traits(const SequenceDatasetOptions& options) {
  const int64_t text = options.text.tokens == TokenKind::subwords ? options.text.vocabulary : 257;
  switch (options.kind) {
    case SequenceKind::imdb:
      return {text, 2, options.max_length, false};
    case SequenceKind::matching:
      return {text, 2, options.max_length, true};
    case SequenceKind::cifar10_pixels:
      return {256, 10, options.max_length, false};
    default:
      return {17, 10, options.max_length, false};
  }
}

}  // namespace cachet::data
