#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachet/data/text/encoders/unicode_normalization.h"

namespace cachet::data {

/// A token's id.
using Token = int32_t;

/// Far above any vocabulary in use (the One Billion Word benchmark's has 0.8 million), far below what hurts.
inline constexpr int64_t kMaxTokens = int64_t{1} << 24;

/// Fills a batch after a shorter sequence. Text and ListOps use this id for nothing else. For pixels it is black, and
/// only the padding mask marks padding.
inline constexpr Token kPaddingToken = 0;

/// The ids that stand for no text of their own, where a vocabulary has them.
struct SpecialTokens {
  std::optional<Token> padding{}, unknown{};
  std::optional<Token> begin{}, end{};  // of a sequence
  bool operator==(const SpecialTokens&) const = default;
};

/// The meaning of token ids.
struct Vocabulary {
  int64_t size = 0;  // ids are 0 … size − 1
  /// Equal for equal meanings: a word for fixed ones, the SHA-256 of their model for subwords.
  std::string fingerprint{};
  SpecialTokens special{};
  TextNormalization normalization = TextNormalization::none;  // the form that texts are in

  /// Equal for tokens that mean the same and were made of texts in the same form: the fingerprint itself for texts as
  /// they are given, else the SHA-256 of form and fingerprint.
  std::string fingerprint_of_tokens() const;
};

}  // namespace cachet::data
