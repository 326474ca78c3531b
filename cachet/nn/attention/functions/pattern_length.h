#pragma once

#include <algorithm>
#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/nn/layout.h"

namespace cachet::nn {

/// The length that the pattern of an attention function follows: the number of its blocks or chunks, and the positions
/// of queries in a context of another length.
enum class PatternLength {
  model,  // the longest sequence that the model reads: a result does not depend on the rest of the batch, and equals
          // that of a sequence that is padded to this length
  batch,  // the present tokens, which a batch pads to its longest sequence: the rule of version 0.1.0
};

/// Reads `pattern_length` of an `attention` table.
PatternLength read_pattern_length(const config::View& table);

/// Returns the number of tokens that a pattern is made for: at least `tokens`, the number of present tokens.
inline int64_t pattern_tokens(PatternLength rule, const TokenLayout& layout, int64_t tokens) {
  return rule == PatternLength::model ? std::max(layout.full_length, tokens) : tokens;
}

}  // namespace cachet::nn
