#include "cachet/data/text/encoders/text_encoder.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cachet/data/text/encoders/subword_encoder.h"

namespace cachet::data {

std::string TextEncoder::decode(TokenView tokens) const {
  const Vocabulary known = vocabulary();
  const SpecialTokens& special = known.special;
  std::vector<Token> texts;
  texts.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token token = tokens[i];
    if (token < 0 || token >= known.size)
      throw std::out_of_range("token " + std::to_string(i) + " is " + std::to_string(token) +
                              ", but the ids of the vocabulary are 0 to " + std::to_string(known.size - 1));
    if (token != special.padding && token != special.begin && token != special.end) texts.push_back(token);
  }
  return decode_known(texts);
}

std::string ByteEncoder::decode_known(const std::vector<Token>& tokens) const {
  std::string text;
  text.reserve(tokens.size());
  for (const Token token : tokens) text += static_cast<char>(token - 1);
  return text;
}

EncodedText ByteEncoder::encode(std::string_view text, int64_t most) const {
  EncodedText encoded;
  encoded.tokens.reserve(std::min(text.size(), static_cast<size_t>(most) + 1));
  for (const char symbol : text.substr(0, static_cast<size_t>(most) + 1))
    encoded.tokens.push_back(static_cast<Token>(static_cast<unsigned char>(symbol) + 1));
  return encoded;
}

std::unique_ptr<const TextEncoder> make_text_encoder(const TextOptions& options,
                                                     const std::filesystem::path& working_folder) {
  if (options.tokens == TokenKind::subwords) return read_subword_encoder(options, working_folder);
  return std::make_unique<ByteEncoder>();
}

}  // namespace cachet::data
