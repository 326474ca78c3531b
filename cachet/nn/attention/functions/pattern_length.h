#pragma once

#include <algorithm>
#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/nn/layout.h"

namespace cachet::nn {

/// The length from which an attention function computes its pattern. A pattern consists of the number of blocks or
/// chunks and, if query and context differ in length, of the queries' positions in the context.
enum class PatternLength {
  model,  // the longest sequence that the model can read
          // With PatternLength::model, the result for a sequence does not depend on the rest of the batch: it equals
          // the result for the sequence padded to the model's longest length.
  batch,  // the tokens of the batch, padded to its longest sequence (the rule of version 0.1.0)
};

/// Reads `pattern_length` of an `attention` table.
PatternLength read_pattern_length(const config::View& table);

/// Returns the length for which a pattern is made: at least `tokens`, the number of tokens of a sequence in the batch.
inline int64_t pattern_tokens(PatternLength rule, const TokenLayout& layout, int64_t tokens) {
  return rule == PatternLength::model ? std::max(layout.full_length, tokens) : tokens;
}

}  // namespace cachet::nn
