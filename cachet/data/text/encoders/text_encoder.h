#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/data/text/encoders/vocabulary.h"
#include "cachet/data/text/sequences/sequence_options.h"
#include "cachet/data/text/sequences/token_store.h"

namespace cachet::data {

struct EncodedText {
  std::vector<Token> tokens{};
  std::vector<size_t> unknown{};  // positions of tokens that stand for text that the vocabulary does not have
  int64_t replaced = 0;           // bytes that were not UTF-8, if that matters
};

/// Turns text into tokens and back. May be called from several threads at once.
class TextEncoder {
 public:
  virtual ~TextEncoder() = default;
  virtual Vocabulary vocabulary() const = 0;
  /// The tokens of a text. If there are more than `most`, it may leave out those after the first most + 1.
  virtual EncodedText encode(std::string_view text, int64_t most) const = 0;
  /// The text of tokens, as far as encoding lost nothing. Padding, begin and end stand for no text. Throws
  /// std::out_of_range that names a token which the vocabulary does not have, and its index.
  std::string decode(TokenView tokens) const;

 private:
  virtual std::string decode_known(const std::vector<Token>& tokens) const = 0;  // of the vocabulary
};

inline constexpr int64_t kByteVocabulary = 257;

/// Each byte plus 1, as in the arena; any bytes are a text.
class ByteEncoder final : public TextEncoder {
 public:
  Vocabulary vocabulary() const override { return {kByteVocabulary, "bytes", {.padding = kPaddingToken}}; }
  EncodedText encode(std::string_view text, int64_t most) const override;

 private:
  std::string decode_known(const std::vector<Token>& tokens) const override;
};

/// Throws io::Error if a subword model is missing, damaged or not the one of the options.
std::unique_ptr<const TextEncoder> make_text_encoder(const TextOptions& options,
                                                     const std::filesystem::path& working_folder);

}  // namespace cachet::data
