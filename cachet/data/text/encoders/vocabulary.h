#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachet/data/text/encoders/unicode_normalization.h"

namespace cachet::data {

/// A token's id.
using Token = int32_t;

/// Far above any vocabulary in use (that of the One Billion Word benchmark has 0.8 million), far below harmful sizes.
inline constexpr int64_t kMaxTokens = int64_t{1} << 24;

/// Fills a batch after a shorter sequence. In text and ListOps, this id only pads. In pixels it is also black, and only
/// the padding mask marks padding.
inline constexpr Token kPaddingToken = 0;

/// The ids without text of their own, if the vocabulary has them.
struct SpecialTokens {
  std::optional<Token> padding{}, unknown{};
  std::optional<Token> begin{}, end{};  // of a sequence
  bool operator==(const SpecialTokens&) const = default;
};

/// The meaning of token ids.
struct Vocabulary {
  int64_t size = 0;  // ids are 0 … size − 1
  /// Equal for equal meanings: a word for fixed vocabularies, the SHA-256 of the model for subwords.
  std::string fingerprint{};
  SpecialTokens special{};
  TextNormalization normalization = TextNormalization::none;  // the form of the texts

  /// Equal for tokens with the same meaning that were made of texts in the same form. For texts without normalization
  /// it is the fingerprint itself, else the SHA-256 of form and fingerprint.
  std::string fingerprint_of_tokens() const;
};

}  // namespace cachet::data
