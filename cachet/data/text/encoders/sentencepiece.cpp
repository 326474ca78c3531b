// All that touches SentencePiece; a build without it (CACHET_SUBWORDS=OFF) refuses instead.
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/encoders/subword_training.h"
#include "cachet/io/error.h"

#ifdef CACHET_SUBWORDS

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <exception>
#include <optional>
#include <regex>
#include <unordered_map>
#include <utility>

#include "cachet/config/library_message.h"
#include "cachet/data/text/encoders/subword_tables.h"
#include "cachet/io/digests/sha256.h"

namespace sentencepiece::error {
std::string take_task_failure();  // cmake/sentencepiece-checks.h
}

namespace cachet::data {
namespace {

constexpr int kSilent = 2;  // errors come back as a status

/// The refused vocabulary and the largest that the texts allow, if a training failed because of them.
std::optional<std::pair<std::string, std::string>> refused_and_most(const std::string& text) {
  std::smatch numbers;
  if (!std::regex_search(text, numbers, std::regex("size too high \\(([0-9]+)\\).*value <= ([0-9]+)")))
    return std::nullopt;
  return std::pair(numbers[1].str(), numbers[2].str());
}

/// The reason of a failure, if it has one, without the position in SentencePiece's sources and the condition there.
std::string reason(const sentencepiece::util::Status& status) {
  const std::string text = status.message();
  // A word's pieces are numbered in 16 bits (bpe_model_trainer.h).
  if (text.find("numeric_limits<uint16_t>") != std::string::npos)
    return ": a word has more than 65535 characters, the maximum of BPE; split the word with spaces or line ends, or "
           "train with --type unigram";
  // It names options of its own program.
  std::smatch numbers;
  if (std::regex_search(text, numbers, std::regex("smaller than required_chars. ([0-9]+) vs ([0-9]+)")))
    return ": the characters of the texts need " + numbers[2].str() + " pieces, but the vocabulary has only " +
           numbers[1].str() + "; use a larger --vocabulary";
  if (const auto sizes = refused_and_most(text))
    return ": the texts have too few different pieces for a vocabulary of " + sizes->first +
           "; use a --vocabulary of at most " + sizes->second;
  const std::string said = config::plain_message(text);
  return said.empty() ? said : ": " + said;
}

/// The result of `call`. Parts of SentencePiece throw exceptions instead; its checks do, too, as we compile it.
template <class Call>
sentencepiece::util::Status with_status(const Call& call) {
  const auto failed = [](const std::string& text) {
    return sentencepiece::util::Status(sentencepiece::util::StatusCode::kInternal, text);
  };
  try {
    const sentencepiece::util::Status status = call();
    const std::string of_task = sentencepiece::error::take_task_failure();
    return of_task.empty() || !status.ok() ? status : failed(of_task);
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

/// Before SentencePiece sees the model: to load it may already mean to split samples that it holds.
void check_tables(std::string_view model, const std::string& name) {
  const auto tables = normalization_tables(model);
  if (!tables) throw io::Error(name + ": is not a SentencePiece model, or is damaged");
  for (const std::string_view table : *tables)
    if (const auto problem = table_problem(table)) throw io::Error(name + ": is damaged: " + *problem);
}

}  // namespace

struct SubwordEncoder::Model {
  sentencepiece::SentencePieceProcessor processor;
};

SubwordEncoder::SubwordEncoder(std::string_view model, const std::string& name) {
  sentencepiece::SetMinLogLevel(kSilent);
  auto loaded = std::make_unique<Model>();
  check_tables(model, name);
  const auto status = with_status([&] { return loaded->processor.LoadFromSerializedProto(model); });
  if (!status.ok()) throw io::Error(name + ": is not a SentencePiece model, or is damaged" + reason(status));
  const int64_t size = loaded->processor.GetPieceSize();
  if (size > kMaxTokens)
    throw io::Error(name + ": has " + std::to_string(size) + " pieces; the maximum is " + std::to_string(kMaxTokens));
  if (loaded->processor.pad_id() != kPaddingToken)
    throw io::Error(name + ": its id 0 must be the padding token; make a model with `cachet data subwords`");
  const auto id = [size](int id) {  // −1 where the model has none
    return id >= 0 && id < size ? std::optional(static_cast<Token>(id)) : std::nullopt;
  };
  const auto& processor = loaded->processor;
  vocabulary_ = {size,
                 io::sha256_hex(model),
                 {id(processor.pad_id()), id(processor.unk_id()), id(processor.bos_id()), id(processor.eos_id())}};
  model_ = std::move(loaded);
}

SubwordEncoder::~SubwordEncoder() = default;

EncodedText SubwordEncoder::encode(std::string_view text, int64_t /*most*/) const {
  EncodedText encoded;
  const std::string valid = with_valid_utf8(text, encoded.replaced);
  std::vector<int> ids;
  const auto status = with_status([&] { return model_->processor.Encode(valid, &ids); });
  if (!status.ok()) throw io::Error("SentencePiece cannot encode" + reason(status));
  encoded.tokens.assign(ids.begin(), ids.end());
  for (size_t i = 0; i < encoded.tokens.size(); ++i)
    if (encoded.tokens[i] == vocabulary_.special.unknown) encoded.unknown.push_back(i);
  return encoded;
}

std::string SubwordEncoder::decode_known(const std::vector<Token>& tokens) const {
  std::string text;
  const std::vector<int> ids(tokens.begin(), tokens.end());
  const auto status = with_status([&] { return model_->processor.Decode(ids, &text); });
  if (!status.ok()) throw io::Error("SentencePiece cannot decode" + reason(status));
  return text;
}

std::string train_subwords(const std::vector<std::string>& texts, const SubwordOptions& options) {
  if (options.vocabulary < 3 || options.vocabulary > kMaxTokens)
    throw io::Error("a subword vocabulary must have 3 to " + std::to_string(kMaxTokens) + " pieces");
  sentencepiece::SetMinLogLevel(kSilent);
  std::string model;
  const std::unordered_map<std::string, std::string> words{
      {"vocab_size", std::to_string(options.vocabulary)},
      {"model_type", options.kind == SubwordKind::bpe ? "bpe" : "unigram"},
      {"pad_id", "0"},
      {"unk_id", "1"},
      {"bos_id", options.begin_and_end ? "2" : "-1"},
      {"eos_id", options.begin_and_end ? "3" : "-1"},
      {"max_sentence_length", std::to_string(1 << 26)},  // a text is one, and none is skipped
      {"num_threads", "4"},                              // sums of the unigram model depend on it
      {"normalization_rule_name", options.keep_characters ? "identity" : "nmt_nfkc"},
      {"minloglevel", std::to_string(kSilent)}};
  const auto status = with_status([&] { return sentencepiece::SentencePieceTrainer::Train(words, texts, &model); });
  if (status.ok()) return model;
  const std::string message = "SentencePiece cannot train" + reason(status);
  if (const auto sizes = refused_and_most(status.message())) throw TooFewPieces(message, std::stoll(sizes->second));
  throw io::Error(message);
}

}  // namespace cachet::data

#else

namespace cachet::data {
namespace {

[[noreturn]] void refuse_subwords() {
  throw io::Error("this build of Cachet does not support subwords; build it with -DCACHET_SUBWORDS=ON");
}

}  // namespace

struct SubwordEncoder::Model {};
SubwordEncoder::SubwordEncoder(std::string_view /*model*/, const std::string& /*name*/) { refuse_subwords(); }
SubwordEncoder::~SubwordEncoder() = default;
EncodedText SubwordEncoder::encode(std::string_view /*text*/, int64_t /*most*/) const { refuse_subwords(); }
std::string SubwordEncoder::decode_known(const std::vector<Token>& /*tokens*/) const { refuse_subwords(); }
std::string train_subwords(const std::vector<std::string>& /*texts*/, const SubwordOptions& /*options*/) {
  refuse_subwords();
}

}  // namespace cachet::data

#endif
