#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/models/language/translation_model.h"

namespace cachet::models {

/// The decoder's state for translations, in tensors of a fixed size. All calls between two changes of the size make the
/// same operations, so that they can be recorded and replayed. Each hypothesis is one batch row; the hypotheses of a
/// sentence are consecutive rows.
struct FixedSession {
  std::shared_ptr<nn::AttentionState> state;
  at::Tensor position;  // (1) int64, on the device: number of tokens that each batch row has read
};

/// A translation model that has a FixedSession.
class FixedDecoder {
 public:
  virtual ~FixedDecoder() = default;

  /// Returns the reason why the model has no FixedSession, as a clause, or std::nullopt.
  virtual std::optional<std::string> why_no_fixed_session() const = 0;

  /// Returns a session before the first token, with `beam` batch rows for each sentence and room for `capacity` tokens.
  virtual FixedSession make_fixed_session(const EncodedSentences& source, int64_t beam, int64_t capacity) = 0;
  /// Reads one token of each batch row, ids (rows) int64. Returns log p of the following token (rows, vocabulary), in
  /// float32 or wider. The results differ from TranslationModel::next_token() by rounding. The caller increments the
  /// position, which must be below the capacity.
  virtual at::Tensor next_fixed(const at::Tensor& ids, FixedSession& session) = 0;
  /// Replaces batch row i by the former row rows[i] of the same sentence, in place; rows (rows) int64, on the device.
  virtual void reorder_fixed(FixedSession& session, const at::Tensor& rows) const = 0;
  /// Makes room for `capacity` tokens, at other addresses.
  virtual void extend_fixed(FixedSession& session, int64_t capacity) const = 0;
  /// Returns pointers to all tensors of a session, in a fixed order. The caller may replace a tensor by an equal
  /// tensor.
  virtual std::vector<at::Tensor*> fixed_tensors(FixedSession& session) const = 0;
};

}  // namespace cachet::models
