#include "cachet/data/text/sequences/sequence_options.h"

#include <algorithm>
#include <array>

#include "cachet/data/class_matching.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_kinds.h"

namespace cachet::data {
namespace {

constexpr std::array<config::Choice<TokenKind>, 2> kTokenKinds{
    {{"bytes", TokenKind::bytes}, {"subwords", TokenKind::subwords}}};
constexpr std::array<config::Choice<TooLong>, 2> kTooLong{
    {{"truncate", TooLong::truncate}, {"refuse", TooLong::refuse}}};
constexpr std::array<config::Choice<EmptyText>, 2> kEmptyTexts{
    {{"refuse", EmptyText::refuse}, {"skip", EmptyText::skip}}};

constexpr std::array<config::Choice<SplitBy>, 2> kSplitBy{{{"groups", SplitBy::groups}, {"samples", SplitBy::samples}}};

constexpr int64_t kLongestSequence = int64_t{1} << 24;

TextOptions read_text_options(const config::View& data) {
  TextOptions options;
  options.empty_texts = data.choice("empty_texts", options.empty_texts, kEmptyTexts);
  options.tokens = data.choice("tokens", options.tokens, kTokenKinds);
  if (options.tokens == TokenKind::subwords) {
    options.subword_model = data.required_text("subword_model");
    options.vocabulary = data.integer("vocabulary", options.vocabulary, {2, kMaxTokens});
    options.vocabulary_hash = data.text("vocabulary_hash", options.vocabulary_hash);
    return options;
  }
  for (const char* key : {"subword_model", "vocabulary", "vocabulary_hash"})
    data.refuse(key, "has no effect without tokens = \"subwords\"");
  return options;
}

}  // namespace

const char* to_string(SequenceSplit split) {
  switch (split) {
    case SequenceSplit::train:
      return "train";
    case SequenceSplit::validation:
      return "validation";
    case SequenceSplit::test:
      break;
  }
  return "test";
}

SequenceDatasetOptions read_sequence_dataset_options(const config::View& data) {
  SequenceDatasetOptions options;
  options.kind = data.record("kind", options.kind, sequence_kinds());
  const SequenceKind& kind = *options.kind;
  options.root = data.required_text("root");
  options.class_names = read_class_names(data);
  if (options.class_names.empty() && kind.class_names().empty())
    data.problem("class_names", "must list the class names that are in the first column of the files");
  options.max_length = data.integer("max_length", kind.max_length, {1, kLongestSequence});
  options.too_long = data.choice("too_long", options.too_long, kTooLong);
  options.fraction = data.real("fraction", options.fraction, {.least = 0, .most = 1, .least_excluded = true});
  options.limit = data.integer("limit", options.limit, {.least = 0});
  options.subset_seed = static_cast<uint64_t>(data.integer("subset_seed", 0, {.least = 0}));

  if (!kind.files.empty()) {
    options.files = data.text("files", kind.files);
    if (options.files.empty() || options.files.find('/') != std::string::npos)
      data.problem("files", "must be the first part of the files' names, without a folder");
  }
  if (kind.has_texts) options.text = read_text_options(data);
  if (kind.validation_fraction)
    options.validation_fraction =
        data.real("validation_fraction", *kind.validation_fraction, {.least = 0, .most = 0.9});
  if (options.validation_fraction > 0)
    options.split_by = data.choice("split_by", options.split_by, kSplitBy);
  else if (kind.validation_fraction)
    data.refuse("split_by", "has no effect unless validation_fraction is above 0");
  return options;
}

SequenceTraits sequence_traits(const SequenceDatasetOptions& options) {
  const SequenceKind& kind = *options.kind;
  int64_t vocabulary = kind.vocabulary;
  if (kind.has_texts)
    vocabulary = options.text.tokens == TokenKind::subwords ? options.text.vocabulary : kByteVocabulary;
  const size_t classes = options.class_names.empty() ? kind.class_names().size() : options.class_names.size();
  return {vocabulary, std::max<int64_t>(1, static_cast<int64_t>(classes)), options.max_length, kind.pairs};
}

}  // namespace cachet::data
