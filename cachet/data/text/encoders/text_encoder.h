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
  std::vector<size_t> unknown{};  // positions of tokens for text that the vocabulary does not have
  int64_t replaced = 0;           // bytes that were not UTF-8, if the encoder requires UTF-8
};

/// Converts text to tokens and back. Several threads may call the members of a TextEncoder at once.
class TextEncoder {
 public:
  virtual ~TextEncoder() = default;
  virtual Vocabulary vocabulary() const = 0;
  /// Returns the tokens of a text. If the text has more than `most` tokens, the encoder may return only the first
  /// most + 1 of them.
  virtual EncodedText encode(std::string_view text, int64_t most) const = 0;
  /// Returns the text that `tokens` encode. Parts of the original text that no token encodes are missing. The tokens
  /// for padding, begin and end have no text. For a token outside the vocabulary, throws std::out_of_range, which names
  /// the token and its index.
  std::string decode(TokenView tokens) const;

 private:
  virtual std::string decode_known(const std::vector<Token>& tokens) const = 0;  // all tokens are in the vocabulary
};

inline constexpr int64_t kByteVocabulary = 257;

/// Maps each byte to its value plus 1, as in the Long Range Arena. Every sequence of bytes is a valid text.
class ByteEncoder final : public TextEncoder {
 public:
  Vocabulary vocabulary() const override { return {kByteVocabulary, "bytes", {.padding = kPaddingToken}}; }
  EncodedText encode(std::string_view text, int64_t most) const override;

 private:
  std::string decode_known(const std::vector<Token>& tokens) const override;
};

/// Makes the text encoder that the options select. Throws io::Error if a subword model is missing or damaged, or
/// contradicts the options.
std::unique_ptr<const TextEncoder> make_text_encoder(const TextOptions& options,
                                                     const std::filesystem::path& working_folder);

}  // namespace cachet::data
