#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachet/data/text/encoders/unicode_normalization.h"

namespace cachet::data {

/// A token's id.
using Token = int32_t;

/// The maximum size of a vocabulary: far above sizes in use (One Billion Word: 0.8 million), far below harmful sizes.
inline constexpr int64_t kMaxTokens = int64_t{1} << 24;

/// The id that pads a shorter sequence of a batch. In vocabularies of text and of ListOps, the padding id has no other
/// meaning than padding. In pixel sequences, the padding id is also the value of a black pixel, and only the padding
/// mask marks padding.
inline constexpr Token kPaddingToken = 0;

/// The ids that have no text of their own, if the vocabulary has such ids.
struct SpecialTokens {
  std::optional<Token> padding{}, unknown{};
  std::optional<Token> begin{}, end{};  // begin and end of a sequence
  bool operator==(const SpecialTokens&) const = default;
};

/// The meaning of token ids.
struct Vocabulary {
  int64_t size = 0;  // ids are 0 … size − 1
  /// A fingerprint of the meaning of all ids: a word for fixed vocabularies, the model's SHA-256 for subwords.
  std::string fingerprint{};
  SpecialTokens special{};
  TextNormalization normalization = TextNormalization::none;  // the form of the texts

  /// Returns a fingerprint of the token ids' meaning and of the texts' normalization. Without normalization, returns
  /// `fingerprint`; with normalization, the SHA-256 of the normalization's name, a space and `fingerprint`.
  std::string fingerprint_of_tokens() const;
};

}  // namespace cachet::data
